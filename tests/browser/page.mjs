// The page in a real browser, with machines whose motion is known.
// usage: page.mjs TEMPLATE [--only=PART OF A NAME]      TEMPLATE is what web/build.mjs makes

import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {createRequire} from "node:module";
import {readFileSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {folder, launch, needed, open, root, run} from "./browser.mjs";
import {fill, machines} from "../../web/fixtures.mjs";

const template = readFileSync(needed(process.argv[2] ?? "", "the page's template"), "utf8");
const browser = await launch();
const place = folder();
const data = {};
const path = (name) => {
  const file = join(place, `${name}.html`);
  if (!data[name]) {
    data[name] = name === "chain" ? machines.chain(1000) : machines[name]();
    writeFileSync(file, fill(template, data[name]));
  }
  return file;
};

/** Pages that several tests look at, one after the other: opening one takes most of the time. */
const opened = {};
const shared = async (name) => {
  const {page, wrong} = (opened[name] ??= await open(browser, path(name)));
  await page.locator("#scrub").press("Home");
  return {page, wrong};
};

const state = (page) => page.evaluate(() => ({time: window.alphastep.time, playing: window.alphastep.playing, window: window.alphastep.window, selected: window.alphastep.selected}));
const plots = (page) => page.evaluate(() => window.alphastep.plots);
const picture = (page) => page.locator("#view").screenshot();
const frames = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));

/** What a four-bar's crank does: half its length away from its pin, at the angle 2 t. */
const crank = (t) => [0.15 * Math.cos(2 * t), 0, 0.15 * Math.sin(2 * t)];
const near = (found, expected, within, what) =>
  expected.forEach((value, i) => assert.ok(Math.abs(found[i] - value) <= within, `${what}: ${found} is not ${expected}`));

/** A browser that cannot draw in 3D. */
const noWebgl = () => {
  const get = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
    return kind.startsWith("webgl") ? null : get.call(this, kind, ...more);
  };
};

/** Whatever can be operated and is seen, by what it is called. */
const controls = (page) =>
  page.evaluate(() => {
    const found = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")];
    const shut = (element) => element.disabled || element.closest("[hidden]") || (element.closest("details:not([open])") && !element.matches("summary"));
    return found.filter((element) => !shut(element) && element.getClientRects().length > 0).map((element, i) => {
      element.dataset.nth = String(i);
      return element.ariaLabel ?? element.labels?.[0]?.textContent ?? (element.textContent || element.title);
    });
  });

const tests = {
  "opens from disk: nothing complains, nothing is asked of a network, text is only text": async () => {
    const {page, wrong} = await shared("zoo");
    await frames(page);
    assert.equal(await page.title(), data.zoo.title);
    assert.equal(await page.locator("#title").textContent(), data.zoo.title);
    for (const at of ["#choose", "#follow"]) assert.match(await page.locator(at).textContent(), /<img src=x onerror/);
    await page.selectOption("#choose", {index: 1});
    await page.locator("#values table").waitFor();
    for (const at of ["#model-text", "#event-table", "#notices", ".legend >> nth=0"]) assert.ok((await page.locator(at).textContent()).length > 0);
    assert.match(await page.locator("#event-table").textContent(), /of <img src=x/);
    assert.match(await page.locator("#model-text").textContent(), /<\/script><img/);
    assert.equal(await page.locator("img").count(), 0);
    assert.deepEqual(wrong, []);
  },

  "its policy lets no request and no other script through": async () => {
    const {page, close} = await open(browser, path("top"), {init: noWebgl});
    const blocked = await page.evaluate(async () => {
      const seen = [];
      document.addEventListener("securitypolicyviolation", (event) => seen.push(event.effectiveDirective));
      const element = (tag, properties) => document.body.append(Object.assign(document.createElement(tag), properties));
      element("img", {src: "http://127.0.0.1:9/x.png"});
      element("script", {textContent: "window.ran = true"});
      element("link", {rel: "stylesheet", href: "http://127.0.0.1:9/x.css"});
      await fetch("http://127.0.0.1:9/x").catch(() => undefined);
      for (let i = 0; i < 200 && seen.length < 4; i++) await new Promise((done) => setTimeout(done, 50));
      return {seen: seen.sort(), ran: window.ran ?? false};
    });
    assert.deepEqual(blocked, {seen: ["connect-src", "img-src", "script-src-elem", "style-src-elem"], ran: false});
    await close();
  },

  "plays, pauses and looks different then": async () => {
    const {page, wrong} = await shared("top");
    assert.equal((await state(page)).playing, false, "it must not move by itself for those who want no motion");
    await frames(page);
    const first = await picture(page);
    assert.ok(first.equals(await picture(page)), "it rests, and its picture changes");
    await page.locator("#play").press("Space");
    await page.waitForFunction(() => window.alphastep.time > 0.2);
    await page.locator("#play").press("Space");
    const {time, playing} = await state(page);
    assert.equal(playing, false);
    await frames(page);
    assert.ok(!first.equals(await picture(page)), "the animation does not move");
    assert.equal((await state(page)).time, time);
    assert.deepEqual(wrong, []);
    const moving = await open(browser, path("top"), {reducedMotion: "no-preference"});
    await moving.page.waitForFunction(() => window.alphastep.time > 0);
    await moving.close();
  },

  "shows bodies where the results say": async () => {
    const {page, wrong} = await shared("four-bar");
    const rows = data["four-bar"].rows;
    const position = () => page.evaluate(() => window.alphastep.position("crank"));
    await page.locator("#scrub").press("End");
    assert.equal((await state(page)).time, 6.28);
    near(await position(), crank(6.28), 1e-6, "at the end");
    await page.locator("#scrub").press("Home");
    near(await position(), crank(0), 1e-6, "at the start");
    for (let i = 0; i < 3; i++) await page.locator("#scrub").press("PageUp");
    await page.locator("#forward").press("Enter");
    const t = (31 * 6.28) / (rows - 1);
    assert.ok(Math.abs((await state(page)).time - t) < 1e-12);
    near(await position(), crank(t), 1e-6, "after 31 rows");
    const box = await page.locator("#scrub").boundingBox();
    await page.mouse.click(box.x + 0.4 * box.width, box.y + box.height / 2);
    const {time} = await state(page);
    assert.ok(time > 1.5 && time < 3.5, `the scrubber went to ${time}`);
    near(await position(), crank(time), 1e-4, "between rows");
    assert.deepEqual(wrong, []);
  },

  "a plot reaches the highest value, in a row that was left out too": async () => {
    const {page} = await shared("zoo");
    const push = (await plots(page)).findIndex((plot) => plot.channels.includes("forces.push.force.x"));
    const plot = (await plots(page))[push];
    const at = plot.channels.indexOf("forces.push.force.x");
    near(plot.extremes[at], [-1, 50], 1e-3, "extremes");
    const [low, high] = plot.ranges.N;
    assert.ok(high > 50 && high < 60 && low < -1 && low > -10, `the scale goes from ${low} to ${high}`);
    // The highest pixel in the curve's colour, in the canvas, is where the value 50 belongs.
    const top = await page.evaluate(([n, series]) => {
      const element = document.querySelectorAll("#plot-list .plot")[n];
      const [canvas, over] = [element.querySelector("canvas"), element.querySelector(".u-over")];
      const wanted = getComputedStyle(element.querySelectorAll(".legend i")[series]).backgroundColor.match(/\d+/g).map(Number);
      const {width, height} = canvas;
      const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
      for (let i = 0; i < width * height; i++)
        if (wanted.every((value, k) => Math.abs(pixels[4 * i + k] - value) < 40)) return (Math.floor(i / width) - over.offsetTop) / over.clientHeight;
      return NaN;
    }, [push, at]);
    assert.ok(Math.abs(top - (high - 50) / (high - low)) < 0.02, `the curve begins at ${top} of the height, for 50 of ${low}..${high}`);
    assert.match(await page.locator("#notices").textContent(), /shows 401 of 8001 rows/);
    assert.match(await page.locator("#notices").textContent(), /did not finish \(failed\)\. Newton did not converge/);
  },

  "time and zoom are shared by the animation and the plots": async () => {
    const {page} = await shared("four-bar");
    const over = await page.locator("#plot-list .u-over").first().boundingBox();
    const at = (part) => [over.x + part * over.width, over.y + 0.5 * over.height];
    await page.mouse.click(...at(0.5));
    assert.ok(Math.abs((await state(page)).time - 3.14) < 0.03, "a click sets the time");
    await page.mouse.move(...at(0.25));
    assert.match(await page.locator("#plot-list .when").first().textContent(), /at 1\.5\d+ s/);
    await page.mouse.down();
    await page.mouse.move(...at(0.75), {steps: 4});
    await page.mouse.up();
    near((await state(page)).window, [1.57, 4.71], 0.03, "zoomed");
    for (const plot of [...(await plots(page)), ...(await page.evaluate(() => window.alphastep.checks))]) near(plot.range, (await state(page)).window, 0, plot.title);
    await page.locator("#speed").selectOption({index: 6});
    await page.locator("#scrub").press("End");
    await page.locator("#play").press("Enter");
    await page.waitForFunction(() => window.alphastep.time >= 1.5 && window.alphastep.time < 4.7);
    await page.locator("#play").press("Enter");
    await page.locator("#unzoom").press("Enter");
    near((await state(page)).window, [0, 6.28], 0, "the whole run");
  },

  "every control is reached by Tab, has a name and shows its focus": async () => {
    const {page, wrong} = await shared("zoo");
    await page.locator("#show summary").press("Enter");
    await page.locator("#plot-list [aria-expanded]").first().press("Enter");
    await page.selectOption("#choose", {index: 1});
    await page.locator("#values table").waitFor();
    const names = await controls(page);
    names.forEach((name, i) => assert.ok(name?.trim(), `control ${i} has no name`));
    await page.evaluate(() => document.activeElement.blur());
    const reached = new Set();
    for (let i = 0; i < names.length + 40; i++) {
      await page.keyboard.press("Tab");
      const [nth, outline] = await page.evaluate(() => {
        const style = getComputedStyle(document.activeElement);
        return [document.activeElement.dataset.nth, style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0];
      });
      if (nth === undefined) continue;
      assert.ok(outline, `${names[nth]} does not show that it has the focus`);
      reached.add(Number(nth));
    }
    const missed = names.filter((_, i) => !reached.has(i));
    assert.deepEqual(missed, []);
    assert.ok(names.length > 50, `only ${names.length} controls`);
    assert.deepEqual(wrong, []);
  },

  "every control works by keyboard": async () => {
    const {page, wrong, close} = await open(browser, path("zoo"), {acceptDownloads: true});
    const view = page.locator("#view");
    const pixels = () => view.evaluate((canvas) => canvas.toDataURL());
    const looks = async (what, action) => {
      await frames(page);
      const before = await pixels();
      await action();
      await page.waitForFunction((old) => document.getElementById("view").toDataURL() !== old, before, {timeout: 20000}).catch(() => assert.fail(`${what} changes nothing`));
    };
    for (const key of ["ArrowLeft", "ArrowUp", "Shift+ArrowRight", "+", "-", "f"]) await looks(key, () => view.press(key));
    await view.press("Space");
    assert.equal((await state(page)).playing, true);
    await view.press("Space");
    await view.press("+");
    await looks("Fit", () => page.locator("#fit").press("Enter"));
    await looks("Follow", async () => {
      await page.locator("#follow").press("ArrowDown");
      await page.locator("#follow").press("ArrowDown");
    });
    await page.locator("#show summary").press("Enter");
    for (const layer of ["bodies", "joints", "springs", "forces", "reactions", "grid"]) await looks(layer, () => page.locator(`[data-layer=${layer}]`).press("Space"));
    await page.locator("[data-layer=bodies]").press("Space");
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#layers").isVisible(), false);

    await page.locator("#choose").press("ArrowDown");
    await page.locator("#choose").press("ArrowDown");
    assert.equal((await state(page)).selected, "sphere");
    await page.locator("#scrub").press("Home");
    assert.match(await page.locator("#values").textContent(), /position0\.50/);
    await looks("Trace", () => page.locator("#trace").press("Enter"));
    await page.locator("#scrub").press("PageUp");
    const {time} = await state(page);
    await page.locator("#back").press("Space");
    await page.locator("#forward").press("Space");
    assert.equal((await state(page)).time, time);
    assert.equal(await page.locator("#speed").inputValue(), "1");
    await page.locator("#speed").press("ArrowDown");
    assert.equal(await page.locator("#speed").inputValue(), "2");

    const before = (await plots(page)).length;
    await page.locator("#add-plot").press("Enter");
    const plot = page.locator("#plot-list .plot").last();
    await page.keyboard.type("prismatic displacement");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Space");
    await page.waitForFunction(() => window.alphastep.plots.at(-1).channels.length === 1);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => window.alphastep.plots.at(-1).channels.length === 2);
    assert.deepEqual((await plots(page)).at(-1).channels, ["joints.joint prismatic.displacement", "joints.joint prismatic.displacement_rate"]);
    assert.deepEqual(Object.keys((await plots(page)).at(-1).ranges), ["m", "m/s"]);
    await plot.locator("select").press("ArrowDown");
    await plot.locator("input[type=search]").fill("revolute");
    await plot.locator("input[type=radio]").nth(1).press("Space");
    await page.waitForFunction(() => window.alphastep.plots.at(-1).x === "joints.joint revolute.angle");
    await page.keyboard.press("Escape");
    assert.equal(await plot.locator(".picker").isVisible(), false);
    await plot.getByRole("button", {name: "Log"}).press("Enter");
    assert.equal((await plots(page)).at(-1).log, true);
    await plot.getByRole("button", {name: "Remove Plot"}).press("Enter");
    assert.equal((await plots(page)).length, before);

    const chart = page.locator("#plot-list .chart").first();
    await chart.press("ArrowRight");
    assert.ok((await state(page)).time > time);
    await chart.press("+");
    assert.ok((await state(page)).window[1] < 8);
    await chart.press("0");
    assert.deepEqual((await state(page)).window, [0, 8]);
    await page.locator("#event-table button").first().press("Enter");
    assert.equal((await state(page)).time, 3.3333);
    await page.locator("#theme").press("Enter");
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    await page.locator("#model-text summary").press("Enter");
    assert.equal(await page.locator("#model-text pre").first().isVisible(), false);
    assert.deepEqual(wrong, []);
    await close();
  },

  "arrows of forces and torques point as they act on the second body": async () => {
    const {page} = await shared("zoo");
    for (let i = 0; i < 5; i++) await page.locator("#scrub").press("PageUp");
    const {time: t} = await state(page);
    for (const layer of ["forces", "reactions"]) await page.locator(`[data-layer=${layer}]`).evaluate((box) => box.checked || box.click());
    await page.waitForFunction(() => window.alphastep.arrows("reactions").length > 0 && window.alphastep.arrows("forces").length > 0);
    const arrows = await page.evaluate(() => [...window.alphastep.arrows("forces"), ...window.alphastep.arrows("reactions")]);
    const height = (i) => 0.6 + 0.25 * Math.sin(2 * t + i);
    const expected = { // name: [unit, where, what]
      push: ["N", [0.15 * Math.sin(t), 0, height(0) + 0.15 * Math.cos(t)], [Math.sin(2 * t), 0, 3]],
      spring: ["N", [0.5, 0, height(1) + 0.18], [0, 0, 2]], // hangs from above: pulls up
      twist: ["N m", [1.5, 0, height(3) - 0.3], [0, -3, 0]], // the moment acts on the first body
      drive: ["N m", [2 + 0.2 * Math.sin(t), 0, height(4) + 0.2 * Math.cos(t)], [-4 * Math.cos(t), 0, 4 * Math.sin(t)]], // about x of a body that turns about y
      "joint spherical": ["N", [1 - 0.3 * Math.sin(t), 0, height(2) - 0.3 * Math.cos(t)], [1, Math.sin(t), 9]],
      "joint fixed": ["N m", [2.5, 0, height(5) - 0.3], [0, 0, t]],
    };
    assert.deepEqual(arrows.map(({name}) => name).sort(), Object.keys(expected).sort());
    for (const {name, unit, at, vector} of arrows) {
      assert.equal(unit, expected[name][0], name);
      near(at, expected[name][1], 1e-5, `${name} acts at`);
      near(vector, expected[name][2], 1e-5, name);
    }
    assert.match(await page.locator("#scale").textContent(), /forces: longest [\d.]+ N, 4 N m · reactions: longest [\d.]+ N, 8 N m/);
  },

  "joints hold as events leave them": async () => {
    const {page} = await shared("zoo");
    const held = () => page.evaluate(() => window.alphastep.held.includes("joint distance"));
    assert.equal(await held(), true);
    for (const [nth, expected] of [[0, false], [1, true]]) {
      await page.locator("#event-table button").nth(nth).press("Enter");
      assert.equal(await held(), expected, `after event ${nth}`);
    }
  },

  "a body that is nowhere does not take the view along": async () => {
    const {page, wrong} = await shared("moment");
    await frames(page);
    const pixels = () => page.locator("#view").evaluate((canvas) => canvas.toDataURL());
    const before = await pixels();
    await page.locator("#follow").selectOption({label: "gone"});
    await page.locator("#view").press("ArrowLeft");
    await page.locator("#view").press("ArrowRight");
    await page.locator("#fit").press("Enter");
    await frames(page);
    assert.equal(await pixels(), before, "the view has changed");
    assert.deepEqual(wrong, []);
  },

  "a plot against a channel has values under the pointer, and keeps to the part of the run that is looked at": async () => {
    const {page} = await shared("four-bar");
    await page.locator("#add-plot").press("Enter");
    const plot = page.locator("#plot-list .plot").last();
    await page.keyboard.type("rocker pin.angle");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Space");
    await plot.locator("select").press("ArrowDown");
    await plot.locator("input[type=search]").fill("crank pin.angle");
    await plot.locator("input[type=radio]").nth(1).press("Space");
    const shown = () => page.evaluate(() => window.alphastep.plots.at(-1));
    await page.waitForFunction(() => window.alphastep.plots.at(-1).x === "joints.crank pin.angle");
    await page.keyboard.press("Escape");
    near((await shown()).range, [-0.7536, 13.3136], 1e-3, "the whole run");
    const box = await plot.locator(".u-over").boundingBox();
    await page.mouse.move(box.x + 0.5 * box.width, box.y + 0.5 * box.height);
    const [, angle, time] = /crank pin\.angle ([\d.]+) rad at ([\d.]+) s/.exec(await plot.locator(".when").textContent()).map(Number);
    assert.ok(Math.abs(angle - 2 * time) < 1e-3 && time > 1 && time < 5, `${angle} rad at ${time} s`);
    await page.mouse.move(0, 0);
    await page.locator("#scrub").press("Home");
    await plot.locator(".chart").press("+"); // half of the run is left
    near((await shown()).range, [-0.3768, 6.6568], 0.05, "half of the run");
    const over = await plot.locator(".u-over").boundingBox();
    await page.mouse.move(over.x + 0.25 * over.width, over.y + 0.2 * over.height);
    await page.mouse.down();
    await page.mouse.move(over.x + 0.5 * over.width, over.y + 0.6 * over.height, {steps: 4});
    await page.mouse.up();
    const {range: [low, high], ranges} = await shown();
    assert.ok(low > 1 && high < 3.5, `zoomed to ${low}..${high}`);
    const [file] = await Promise.all([page.waitForEvent("download"), plot.getByRole("button", {name: "SVG"}).press("Enter")]);
    const to = join(place, "zoomed.svg");
    await file.saveAs(to);
    const ticks = [...readFileSync(to, "utf8").matchAll(/text-anchor="end"[^>]*>([−\d.]+)</g)].map((match) => Number(match[1].replace("−", "-")));
    assert.ok(ticks.length > 2 && ticks.every((tick) => tick >= ranges.rad[0] - 1e-9 && tick <= ranges.rad[1] + 1e-9), `${ticks} beyond ${ranges.rad}`);
    await plot.locator(".chart").press("0");
    near((await shown()).range, [-0.7536, 13.3136], 1e-3, "the whole run again");
    await plot.getByRole("button", {name: "Remove Plot"}).press("Enter");
  },

  "a click chooses a body": async () => {
    const {page} = await shared("top");
    const box = await page.locator("#view").boundingBox();
    await page.locator("#view").click({position: {x: 0.57 * box.width, y: 0.33 * box.height}});
    assert.equal((await state(page)).selected, "top");
    await page.locator("#view").click({position: {x: 5, y: 200}});
    assert.equal((await state(page)).selected, null);
  },

  "downloads a plot as SVG, PNG and CSV": async () => {
    const {page, wrong} = await shared("zoo");
    const plot = page.locator("#plot-list .plot").nth((await plots(page)).findIndex(({channels}) => channels.includes("forces.push.force.x")));
    const save = async (kind) => {
      const [file] = await Promise.all([page.waitForEvent("download"), plot.getByRole("button", {name: kind}).press("Enter")]);
      const to = join(place, `saved.${kind}`);
      assert.match(file.suggestedFilename(), new RegExp(`^[\\w.-]+\\.${kind.toLowerCase()}$`));
      await file.saveAs(to);
      return readFileSync(to);
    };
    const svg = (await save("SVG")).toString();
    const parsed = await page.evaluate((text) => {
      const document_ = new DOMParser().parseFromString(text, "image/svg+xml");
      return {root: document_.documentElement.nodeName, paths: document_.querySelectorAll("path").length, images: document_.querySelectorAll("img, image, script").length, text: document_.documentElement.textContent};
    }, svg);
    assert.deepEqual([parsed.root, parsed.paths, parsed.images], ["svg", 1, 0]);
    assert.match(parsed.text, /<img src=x.*forces\.push\.force\.x \[N\]/s);
    assert.deepEqual([...(await save("PNG")).subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
    const [head, ...lines] = (await save("CSV")).toString().trimEnd().split("\n");
    assert.equal(head, "time [s],forces.push.force.x [N]");
    const rows = lines.map((line) => line.split(","));
    const peak = rows.find((row) => row[1] === "50");
    assert.ok(Math.abs(Number(peak[0]) - 3.333) < 1e-3);
    assert.deepEqual(rows.filter((row) => row[1].length > 15), [], "digits that 32 bits do not have");
    assert.ok(rows.every(([t, value]) => Math.abs(t - 3.3333) < 0.03 || Math.abs(value - Math.sin(2 * t)) < 1e-7));
    assert.ok(rows.length > 401 && rows.every((row, i) => i === 0 || Number(row[0]) >= Number(rows[i - 1][0])));
    assert.deepEqual(wrong, []);
  },

  "light and dark as the system asks": async () => {
    const {page, wrong} = await shared("four-bar");
    const lightness = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).reduce((sum, part) => sum + Number(part), 0) / 765);
    const stages = [];
    for (const [colorScheme, dark] of [["light", false], ["dark", true]]) {
      await page.emulateMedia({colorScheme, reducedMotion: "reduce"});
      await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
      assert.equal((await lightness()) < 0.5, dark);
      await frames(page);
      stages.push(await picture(page));
    }
    assert.ok(!stages[0].equals(stages[1]), "the stage keeps its colours");
    await page.locator("#theme").press("Space");
    assert.ok((await lightness()) > 0.5, "the button does not make it light");
    await page.emulateMedia({colorScheme: "light", reducedMotion: "reduce"});
    await page.locator("#theme").press("Space");
    assert.ok((await lightness()) < 0.5, "the button does not make it dark");
    assert.deepEqual(wrong, []);
  },

  "no overflow at 1280 and at 390 pixels": async () => {
    for (const [name, widths] of [["zoo", [1280, 390]], ["four-bar", [390, 1280]], ["car", [390, 1280]]])
      for (const width of widths) {
        const {page, wrong} = await shared(name);
        await page.setViewportSize({width, height: 700});
        await page.selectOption("#choose", {index: 1});
        await page.locator("#values table").waitFor();
        if (await page.locator("#plot-list .picker").first().isHidden()) await page.locator("#plot-list [aria-expanded]").first().press("Enter");
        await frames(page);
        const wide = await page.evaluate(() => {
          const beyond = [...document.querySelectorAll("body *")].filter((element) => {
            if (element.closest(".scroll, .listing, svg, .unseen, select, .legend .name")) return false;
            return element.getClientRects().length > 0 && element.getBoundingClientRect().right > innerWidth + 0.5;
          });
          return [document.documentElement.scrollWidth - innerWidth, ...beyond.map((element) => `${element.tagName} ${element.id} ${element.className}`)];
        });
        assert.deepEqual(wide, [0], `${name} at ${width}`);
        assert.deepEqual(wrong, []);
      }
  },

  "first plots show what moves, one unit each, and tell curves apart that coincide": async () => {
    const {page} = await shared("car");
    const first = await plots(page);
    assert.deepEqual(first.map(({title, channels, x}) => [title, channels, x]), [
      ["Path of chassis", ["bodies.chassis.position.y"], "bodies.chassis.position.x"],
      ["Velocity of chassis", ["bodies.chassis.velocity.y"], "time"], // not x, which is 20 but for round-off
      ["Joint angles", ["joints.hub front left.angle", "joints.hub front right.angle", "joints.hub rear left.angle", "joints.hub rear right.angle"], "time"],
      ["Forces", ["forces.damper front left.tension", "forces.damper front right.tension"], "time"],
    ]);
    for (const plot of first) assert.equal(Object.keys(plot.ranges).length, 1, `units of ${plot.title}`);
    assert.deepEqual(first[2].dashed, [false, true, true, false]); // the last one is 40 rad away
    assert.match(await page.locator("#plot-list .legend").nth(2).textContent(), /front right\.angle.*lies on hub front left.*rear left\.angle.*lies on hub front right/s);
    assert.deepEqual(first[3].dashed, [false, false]);
    const {page: other} = await shared("four-bar");
    for (const plot of await plots(other)) assert.equal(Object.keys(plot.ranges).length, 1, `units of ${plot.title}`);
    assert.ok(!(await plots(other)).flatMap(({channels}) => channels).includes("joints.knee.force.y"), "a constant is plotted");
  },

  "axes have at least three ticks, logarithmic ones within a decade too": async () => {
    for (const name of ["car", "zoo", "top"]) {
      const {page} = await shared(name);
      await frames(page);
      const all = await page.evaluate(() => [...window.alphastep.plots, ...window.alphastep.checks]);
      for (const {title, ticks, ranges, log} of all)
        for (const [unit, [low, high]] of Object.entries(ranges)) {
          const seen = ticks[unit].filter((tick) => tick >= low && tick <= high);
          assert.ok(seen.length >= 3, `${name}, ${title}${log ? " (log)" : ""}: only ${seen} between ${low} and ${high} ${unit}`);
          assert.ok(ticks.x.length >= 3, `${name}, ${title}: only ${ticks.x}`);
        }
    }
    // The same of all ranges.
    const {build} = createRequire(join(root, "web/package.json"))("esbuild");
    const module = join(place, "svg.mjs");
    await build({entryPoints: [join(root, "web/src/svg.ts")], bundle: true, format: "esm", outfile: module, logLevel: "error"});
    const {logTicks, ticks, tickTexts} = await import(module);
    const check = (list, low, high) => {
      assert.ok(list.length >= 3 && list.length <= 30, `${list} between ${low} and ${high}`);
      list.forEach((tick, i) => assert.ok(tick >= low - 1e-9 * (high - low) && tick <= high + 1e-9 * (high - low) && (i === 0 || tick > list[i - 1]), `${list} between ${low} and ${high}`));
      assert.equal(new Set(tickTexts(list)).size, list.length, `texts ${tickTexts(list)} of ${list}`);
    };
    for (let i = 0; i < 400; i++) {
      const low = 10 ** (-20 + (i % 37)) * (1 + (i % 10) * 0.97);
      for (const ratio of [1.02, 1.3, 1.9, 3.1, 7, 25, 180, 1e4, 3e7, 2e13, 1e22]) check(logTicks(low, ratio * low), low, ratio * low);
      for (const about of [3, 5, 6, 8]) for (const offset of [0, -0.5, 3, -1e4]) check(ticks(offset * low, (offset + 1 + (i % 7) / 7) * low, about), offset * low, (offset + 1 + (i % 7) / 7) * low);
    }
  },

  "follows the body that goes far: the view, the grid, and the heading": async () => {
    const {page, wrong} = await shared("car");
    const eye = () => page.evaluate(() => window.alphastep.camera);
    const at = () => page.evaluate(() => window.alphastep.position("chassis"));
    assert.equal(await page.locator("#follow").evaluate((select) => select.selectedOptions[0].textContent), "chassis");
    const offset = async () => {
      const [{position}, place] = [await eye(), await at()];
      return position.map((x, i) => x - place[i]);
    };
    const first = {eye: await eye(), at: await at(), offset: await offset()};
    await page.locator("#scrub").press("End");
    await frames(page);
    const last = {eye: await eye(), at: await at()};
    near(last.at, [100, 0, 0.5], 1e-4, "the car");
    near(last.eye.position.map((x, i) => x - first.eye.position[i]), last.at.map((x, i) => x - first.at[i]), 1e-3, "the camera has moved");
    assert.ok(Math.hypot(...first.offset) < 30, `the camera is ${Math.hypot(...first.offset)} m away`);
    const steps = last.eye.grid.map((x, i) => (x - first.eye.grid[i]) / last.eye.cell); // whole cells: its lines stand still
    steps.slice(0, 2).forEach((x) => assert.ok(Math.abs(x - Math.round(x)) < 1e-6, `the grid has moved by ${steps} cells`));
    assert.ok(Math.hypot(last.eye.grid[0] - 100, last.eye.grid[1]) < last.eye.cell, "the grid is below the car");
    // With the heading: seen from the body the camera stays where it is.
    await page.locator("#turn").evaluate((box) => box.click());
    await page.locator("#scrub").press("Home");
    await frames(page);
    const straight = await offset();
    for (let i = 0; i < 12; i++) await page.locator("#scrub").press("PageUp"); // 1.2 s
    await frames(page);
    const {time} = await state(page);
    const heading = Math.atan2(((1.75 * 2 * Math.PI) / 5) * Math.sin((2 * Math.PI * time) / 5), 20);
    assert.ok(heading > 0.09);
    const {grid, cell} = await eye();
    grid.slice(0, 2).forEach((x) => assert.ok(Math.abs(x / cell - Math.round(x / cell)) < 1e-6, `the grid lies at ${grid}`));
    const [c, s] = [Math.cos(heading), Math.sin(heading)];
    near(await offset(), [c * straight[0] - s * straight[1], s * straight[0] + c * straight[1], straight[2]], 2e-3, "turned with the car");
    await page.locator("#turn").evaluate((box) => box.click());
    await page.locator("#follow").selectOption({index: 0});
    const {position, followed} = await eye();
    assert.equal(followed, null);
    assert.ok(Math.hypot(position[0] - 50, position[1], position[2]) > 60, "the whole way is not in view");
    await page.locator("#scrub").press("Home");
    near((await eye()).position, position, 1e-9, "nothing is followed");
    await page.locator("#follow").selectOption({label: "chassis"});
    assert.equal((await page.evaluate(() => window.alphastep.camera.followed)).index, 0);
    const {page: still} = await shared("four-bar");
    assert.equal((await still.evaluate(() => window.alphastep.camera.followed)), null, "a linkage is followed");
    assert.deepEqual(wrong, []);
  },

  "names of bodies: shown where asked for, apart from each other, and they stay beside their bodies": async () => {
    const names = (page) => page.evaluate(() => window.alphastep.names);
    const switchOn = (page, on) => page.locator("[data-layer=names]").evaluate((box, wanted) => box.checked === wanted || box.click(), on);
    const apart = (shown) => shown.forEach(({name, box: a}, i) => shown.slice(0, i).forEach(({name: other, box: b}) => assert.ok(a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top, `${name} lies on ${other}`)));
    const {page, wrong} = await shared("car");
    assert.equal(await page.locator("#names").isVisible(), false);
    await switchOn(page, true);
    await frames(page);
    let before = await names(page);
    assert.deepEqual(before.map(({name}) => name).sort(), ["chassis", "wheel front left", "wheel front right", "wheel rear left", "wheel rear right"]);
    apart(before);
    for (let i = 0; i < 12; i++) { // followed by the camera they stay where they are, but for the car's turning
      await page.locator("#scrub").press("ArrowRight");
      await frames(page);
      const now = await names(page);
      apart(now);
      for (const {name, box} of now) {
        const old = before.find((one) => one.name === name);
        if (old) assert.ok(Math.hypot(box.x - old.box.x, box.y - old.box.y) < 12, `${name} jumps`);
      }
      assert.ok(now.length >= 4);
      before = now;
    }
    await switchOn(page, false);
    await frames(page);
    assert.deepEqual(await names(page), []);
    assert.equal(await page.locator("#names").isVisible(), false);
    assert.deepEqual(wrong, []);
    const many = await open(browser, path("chain"));
    await switchOn(many.page, true);
    await frames(many.page);
    const thinned = await names(many.page);
    apart(thinned);
    assert.ok(thinned.length >= 5 && thinned.length <= 60, `${thinned.length} names of 1000`);
    await many.close();
  },

  "the ground's part of a linkage is shown": async () => {
    const {page} = await shared("four-bar");
    const ground = () => page.evaluate(() => window.alphastep.ground);
    assert.deepEqual(await ground(), {points: [[0, 0, 0], [0.8, 0, 0]], bars: 1, shown: true});
    const before = await picture(page);
    await page.locator("[data-layer=ground]").evaluate((box) => box.click());
    await frames(page);
    assert.ok(!before.equals(await picture(page)), "it is not seen");
    await page.locator("[data-layer=ground]").evaluate((box) => box.click());
    const {page: zoo} = await shared("zoo"); // a ground with a shape, and joints that hold to lines and planes
    const {points, shown} = await zoo.evaluate(() => window.alphastep.ground);
    assert.equal(shown, false);
    assert.ok(!points.some(([x]) => x === 3), "the joint on a plane holds no point");
  },

  "one sees wheels and disks turn": async () => {
    const {page, wrong} = await shared("spinners");
    for (const body of ["wheel", "cylinder"]) {
      await page.locator("#follow").selectOption({label: body});
      await page.locator("[data-layer=traces]").evaluate((box) => box.checked && box.click());
      await page.locator("#scrub").press("Home");
      await frames(page);
      const pixels = () => page.evaluate(() => {
        const canvas = document.createElement("canvas");
        const view = document.getElementById("view");
        [canvas.width, canvas.height] = [view.width, view.height];
        const context = canvas.getContext("2d");
        context.drawImage(view, 0, 0);
        const w = Math.round(view.width / 5);
        return [...context.getImageData(view.width / 2 - w / 2, view.height / 2 - w / 2, w, w).data];
      });
      const before = await pixels();
      for (let i = 0; i < 3; i++) await page.locator("#scrub").press("PageUp");
      await frames(page);
      const after = await pixels();
      const changed = before.filter((value, i) => Math.abs(value - after[i]) > 12).length / before.length;
      assert.ok(changed > 0.05, `of the ${body} ${100 * changed} % have changed`);
    }
    assert.deepEqual(wrong, []);
  },

  "words of the summary are not broken": async () => {
    for (const name of ["car", "top"])
      for (const width of [1280, 390]) {
        const {page} = await shared(name);
        await page.setViewportSize({width, height: 700});
        await frames(page);
        const broken = await page.evaluate(() => {
          const found = [];
          const walk = document.createTreeWalker(document.getElementById("facts"), NodeFilter.SHOW_TEXT);
          for (let node = walk.nextNode(); node; node = walk.nextNode())
            for (const word of node.data.matchAll(/[^\s/._-]+/g)) {
              const range = document.createRange();
              range.setStart(node, word.index);
              range.setEnd(node, word.index + word[0].length);
              if (new Set([...range.getClientRects()].map(({top}) => Math.round(top))).size > 1) found.push(word[0]);
            }
          return found;
        });
        assert.deepEqual(broken, [], `${name} at ${width}`);
        const model = await page.locator("#facts").textContent();
        if (name === "car") assert.match(model, /year\.double_lane_change_and_back_again\.model\.yaml/);
      }
  },

  "works by touch on a phone": async () => {
    const {page, wrong, close} = await open(browser, path("car"), {viewport: {width: 390, height: 844}, hasTouch: true, isMobile: true});
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    const clock = await page.locator("#clock").evaluate((output) => [output.scrollWidth <= output.clientWidth + 1, output.textContent]);
    assert.deepEqual(clock, [true, "0.000 s / 5.000 s"]);
    const files = await page.locator("#model-text summary").first().evaluate((summary) => summary.scrollWidth <= summary.clientWidth + 1);
    assert.ok(files, "the file's name does not fit");
    const over = page.locator("#plot-list .u-over").nth(1);
    await over.scrollIntoViewIfNeeded();
    const box = await over.boundingBox();
    await page.touchscreen.tap(box.x + 0.5 * box.width, box.y + 0.5 * box.height);
    await page.waitForFunction(() => Math.abs(window.alphastep.time - 2.5) < 0.1);
    await page.evaluate(() => scrollTo(0, 0));
    const before = await page.evaluate(() => window.alphastep.camera.position);
    const view = await page.locator("#view").boundingBox();
    const session = await page.context().newCDPSession(page);
    const touch = (type, x) => session.send("Input.dispatchTouchEvent", {type, touchPoints: type === "touchEnd" ? [] : [{x, y: view.y + 0.6 * view.height}]});
    await touch("touchStart", 120);
    for (let x = 130; x < 260; x += 10) await touch("touchMove", x);
    await touch("touchEnd", 260);
    await frames(page);
    const after = await page.evaluate(() => window.alphastep.camera.position);
    assert.ok(Math.hypot(...after.map((x, i) => x - before[i])) > 1, "a finger does not turn the view");
    assert.deepEqual(wrong, []);
    await close();
  },

  "a thousand bodies": async () => {
    const {page, wrong, close} = await open(browser, path("chain"));
    await page.locator("#scrub").press("End");
    const end = await page.evaluate(() => window.alphastep.position("link 1"));
    near(end.slice(1, 2), [0], 1e-6, "link 1");
    await page.locator("#choose").selectOption({label: "link 777"});
    assert.equal((await state(page)).selected, "link 777");
    await page.locator("#values table").waitFor();
    await page.locator("#add-plot").press("Enter");
    await page.keyboard.type("link 777.quaternion");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Space");
    await page.waitForFunction(() => window.alphastep.plots.at(-1).channels[0] === "bodies.link 777.quaternion.w");
    assert.deepEqual(wrong, []);
    await close();
  },

  "without WebGL it says so and shows the rest": async () => {
    const {page, wrong, close} = await open(browser, path("four-bar"), {init: noWebgl});
    assert.match(await page.locator("#stage").textContent(), /does not draw in 3D/);
    await page.locator("#plot-list .u-over").first().waitFor();
    await page.locator("#scrub").press("End");
    assert.match(await page.locator("#plot-list .legend b").first().textContent(), /^12\.56 rad$/);
    await page.locator("#choose").selectOption({label: "coupler"});
    await page.locator("#values table").waitFor();
    assert.deepEqual(wrong, []);
    await close();
  },

  "a run of one row, and one of no bodies": async () => {
    for (const name of ["moment", "nothing"]) {
      const {page, wrong} = await shared(name);
      await page.locator("#play").press("Enter");
      await page.locator("#scrub").press("End");
      await page.locator("#fit").press("Enter");
      await frames(page);
      assert.equal(await page.locator("#checks .plot").count(), 4);
      assert.deepEqual(wrong, []);
    }
  },

  "broken data is said, not hidden": async () => {
    const file = join(place, "broken.html");
    writeFileSync(file, fill(template, {...machines["four-bar"](), format: 2}));
    const {page, close} = await open(browser, file, {wait: false});
    await page.locator("#notices p").waitFor();
    assert.match(await page.locator("#notices").textContent(), /cannot be shown: .*format 1, not 2/);
    await close();
  },

  "its sources have the types that they say": async () => {
    const {status, stdout} = spawnSync(process.execPath, [join(root, "web/node_modules/typescript/bin/tsc"), "-p", join(root, "web")], {encoding: "utf8"});
    assert.equal(status, 0, stdout);
  },

  "the lock file names no host and the page keeps the licences": async () => {
    assert.doesNotMatch(readFileSync(join(root, "web/package-lock.json"), "utf8"), /https?:|"resolved"/);
    for (const owner of [/Copyright © \d+-\d+ three\.js authors/i, /Copyright \(c\) \d+ Leon Sorokin/]) assert.match(template, owner);
  },
};

const good = await run(tests);
await browser.close();
process.exit(good ? 0 : 1);
