#!/usr/bin/env node
// Makes the pictures of docs/pictures anew: reports of examples, as a browser shows them.
// usage: tools/pictures.mjs COMMAND      COMMAND is alphastep, built with Node; Chromium must be there

import {execFileSync} from "node:child_process";
import {mkdirSync, writeFileSync} from "node:fs";
import {join, resolve} from "node:path";
import {crc32, deflateSync} from "node:zlib";
import {folder, launch, open, root} from "../tests/browser/browser.mjs";

const LARGEST = 100 * 1024; // bytes

// What is shown, when, and of what the picture is: the page, or the machine alone.
const PICTURES = [
  {machine: "car", file: "examples/car/lane_change.yaml", time: 2.05, width: 1080, height: 640, of: "page"},
  {machine: "landing-gear", time: 0.62, width: 1080, height: 620, of: "page"},
  {machine: "heavy-top", time: 0.7, width: 1000, height: 560, of: "#view", colorScheme: "dark"},
  {machine: "stewart", time: 2.3, width: 1000, height: 560, of: "#view"},
];

/** Red, green and blue of a screenshot, unpacked by the browser. */
async function pixels(page, png) {
  const [width, height, base64] = await page.evaluate(async (source) => {
    const image = new Image();
    image.src = `data:image/png;base64,${source}`;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), {width: image.width, height: image.height});
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const {data} = context.getImageData(0, 0, canvas.width, canvas.height);
    let text = "";
    for (let i = 0; i < data.length; i += 4) text += String.fromCharCode(data[i], data[i + 1], data[i + 2]);
    return [canvas.width, canvas.height, btoa(text)];
  }, png.toString("base64"));
  return {width, height, rgb: Buffer.from(base64, "base64")};
}

/** The 256 colours that stand for a picture's: its most frequent ones; for each pixel, which of them. */
function palette({rgb}) {
  const colors = new Map(); // by their first 5 bits each: how often, and one of them
  const key = (i) => ((rgb[i] >> 3) << 10) | ((rgb[i + 1] >> 3) << 5) | (rgb[i + 2] >> 3);
  for (let i = 0; i < rgb.length; i += 3) {
    const color = colors.get(key(i)) ?? {count: 0, rgb: rgb.subarray(i, i + 3)};
    color.count++;
    colors.set(key(i), color);
  }
  const chosen = [...colors.values()].sort((a, b) => b.count - a.count).slice(0, 256).map((color) => color.rgb);
  const far = (a, b) => (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2;
  for (const color of colors.values()) color.index = chosen.reduce((best, one, i) => (far(one, color.rgb) < far(chosen[best], color.rgb) ? i : best), 0);
  return {chosen, indices: Buffer.from(Array.from({length: rgb.length / 3}, (_, i) => colors.get(key(3 * i)).index))};
}

/** A PNG file with a palette, a third of what a browser makes. */
function encode(picture) {
  const {width, height} = picture;
  const {chosen, indices} = palette(picture);
  const rows = [];
  for (let y = 0; y < height; y++) rows.push(Buffer.from([0]), indices.subarray(width * y, width * (y + 1)));
  const chunk = (name, bytes) => {
    const body = Buffer.concat([Buffer.from(name), bytes]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(bytes.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8); // 8 bits, which stand for a colour of the palette
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
  const data = deflateSync(Buffer.concat(rows), {level: 9, memLevel: 9});
  return Buffer.concat([signature, chunk("IHDR", head), chunk("PLTE", Buffer.concat(chosen)), chunk("IDAT", data), chunk("IEND", Buffer.alloc(0))]);
}

const command = resolve(process.argv[2] ?? "build/alphastep");
const place = folder();
const to = join(root, "docs/pictures");
mkdirSync(to, {recursive: true});
const browser = await launch();
for (const {machine, file = join("examples/machines", machine, "model.yaml"), time, width, height, of, colorScheme = "light"} of PICTURES) {
  const results = join(place, machine);
  execFileSync(command, ["run", join(root, file), "-o", results, "--quiet"]);
  const {page, wrong, close} = await open(browser, `${join(results, "report.html")}#t=${time}`, {viewport: {width, height}, colorScheme});
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
  if (of !== "page") await page.locator(".tools").evaluate((tools) => (tools.hidden = true));
  await page.waitForTimeout(1000);
  const path = join(to, `${machine}.png`);
  const picture = encode(await pixels(page, await (of === "page" ? page : page.locator(of)).screenshot()));
  writeFileSync(path, picture);
  console.log(`${path}: ${Math.round(picture.length / 1024)} KB`);
  if (picture.length > LARGEST) throw new Error(`${path} is larger than ${LARGEST} bytes`);
  await close();
}
await browser.close();
