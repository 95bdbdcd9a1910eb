// Light or dark: what the system asks for until the reader chooses.

export interface Theme {
  dark: boolean;
  stage: string;
  ink: string;
  grid: string;
  line: string;
  text: string;
  muted: string;
  accent: string;
  curves: string[];
}

const LIGHT_CURVES = ["#1f6fb4", "#d2601a", "#17885f", "#b0478f", "#9a7b00", "#3f9fc7", "#6a55b5", "#5b626a"];
const DARK_CURVES = ["#6fb1f0", "#f2995c", "#56c79a", "#e48cc6", "#d9bb4a", "#7fd0ee", "#b09cf0", "#aab2ba"];

export function readTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const get = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const dark = document.documentElement.dataset.theme === "dark";
  return {
    dark, stage: get("stage"), ink: get("ink"), grid: get("grid"), line: get("line"), text: get("text"), muted: get("muted"),
    accent: get("accent"), curves: dark ? DARK_CURVES : LIGHT_CURVES,
  };
}

/** Keeps the page's theme; `changed` is called with each new one. */
export function startTheme(button: HTMLButtonElement, changed: (theme: Theme) => void): Theme {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen: boolean | null = null;
  const apply = () => {
    const dark = chosen ?? system.matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    button.setAttribute("aria-pressed", String(dark));
  };
  apply();
  button.addEventListener("click", () => {
    chosen = !(chosen ?? system.matches);
    apply();
    changed(readTheme());
  });
  system.addEventListener("change", () => {
    apply();
    changed(readTheme());
  });
  return readTheme();
}
