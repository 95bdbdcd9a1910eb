// The page: reads its data and brings it to life.

import {Data} from "./data";

async function main() {
  const text = document.getElementById("alphastep-data")?.textContent ?? "";
  const data = await Data.read(text);
  document.getElementById("title")!.textContent = data.raw.title;
}

void main();
