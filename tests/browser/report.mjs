// Reports of real runs in a real browser, beside the results that they show.
// usage: report.mjs COMMAND [--only=PART OF A NAME]      COMMAND is alphastep

import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {folder, launch, needed, open, readCsv, root, run, skip} from "./browser.mjs";

const command = needed(process.argv[2] ?? "", "alphastep");
const place = folder();

/** Runs an example; gives its report and its results. */
function simulate(machine, ...options) {
  const to = join(place, `${machine}${options.join(" ").replace(/\W+/g, "-")}`);
  execFileSync(command, ["run", join(root, "examples/machines", machine, "model.yaml"), "-o", to, "--quiet", ...options], {stdio: ["ignore", "ignore", "inherit"]});
  return {report: join(to, "report.html"), rows: readCsv(join(to, "results.csv")), summary: JSON.parse(readFileSync(join(to, "summary.json"), "utf8"))};
}

const top = simulate("heavy-top");
if (!readFileSync(top.report, "utf8").includes('id="alphastep-data"')) skip("this alphastep was built without Node: its reports are plain");
const browser = await launch();

const column = (rows, name) => rows.map((row) => row[name]);
const near = (found, expected, within, what) => assert.ok(Math.abs(found - expected) <= within, `${what}: ${found} is not ${expected}`);

const tests = {
  "scrubbing brings a body to where the results have it": async () => {
    const {page, wrong, close} = await open(browser, top.report);
    const scrub = page.locator("#scrub");
    await scrub.press("Home");
    for (const [key, times] of [["Home", 1], ["PageUp", 3], ["ArrowRight", 4], ["End", 1]]) {
      for (let i = 0; i < times; i++) await scrub.press(key);
      const {time, position} = await page.evaluate(() => ({time: window.alphastep.time, position: window.alphastep.position("top")}));
      const row = top.rows.find((candidate) => Math.abs(candidate["time [s]"] - time) < 1e-9);
      assert.ok(row, `no row at ${time} s`);
      ["x", "y", "z"].forEach((axis, i) => near(position[i], row[`bodies.top.position.${axis} [m]`], 1e-6, `${axis} at ${time} s`));
    }
    assert.equal((await page.evaluate(() => window.alphastep.time)), top.rows.at(-1)["time [s]"]);
    assert.deepEqual(wrong, []);
    await close();
  },

  "a rope that an event lets go is drawn no more, and what stays is in view": async () => {
    const {report, rows} = simulate("trebuchet");
    const {page, wrong, close} = await open(browser, report);
    assert.deepEqual(await page.locator("#event-table tr td:nth-child(2)").allTextContents(), ["lift off", "let go", "landing"]);
    const pixels = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done(document.getElementById("view").toDataURL()))))));
    const show = (layer, on) => page.locator(`[data-layer=${layer}]`).evaluate((box, wanted) => box.disabled || box.checked === wanted || box.click(), on);
    for (const layer of ["bodies", "joints", "frames", "reactions", "traces", "grid"]) await show(layer, false);
    for (const [nth, there] of [[0, true], [1, false]]) { // before and after the rope is let go
      await page.locator("#event-table button").nth(nth).press("Enter");
      await show("springs", true);
      const shown = await pixels();
      await show("springs", false);
      assert.equal(shown !== (await pixels()), there, `the rope at event ${nth}`);
    }
    const far = Math.max(...column(rows, "bodies.stone.position.x [m]"));
    assert.ok(far > 50, `the stone flies ${far} m`);
    assert.match(await page.locator("#scale").textContent(), /grid [12] m/); // fitted to the machine, not to the stone's flight
    assert.deepEqual(await page.evaluate(() => window.alphastep.held), ["axle", "hinge"]);
    assert.deepEqual(wrong, []);
    await close();
  },

  "a plot has the extremes of the results": async () => {
    const {rows, report} = simulate("landing-gear");
    const {page, wrong, close} = await open(browser, report);
    const shown = await page.evaluate(() => [...window.alphastep.plots, ...window.alphastep.checks]);
    let seen = 0;
    for (const plot of shown)
      plot.channels.forEach((name, i) => {
        const key = Object.keys(rows[0]).find((candidate) => candidate.startsWith(`${name} [`));
        const values = column(rows, key);
        const [low, high] = [Math.min(...values), Math.max(...values)];
        const within = 1e-6 * (high - low) + 1e-7 * Math.max(Math.abs(low), Math.abs(high));
        near(plot.extremes[i][0], low, within, `least ${name}`);
        near(plot.extremes[i][1], high, within, `greatest ${name}`);
        seen++;
      });
    assert.ok(seen >= 6, `only ${seen} curves`);
    assert.match(await page.locator("#facts").textContent(), /methodindex2.*steps\d+.*rejected\d+.*factorizations\d+/s);
    assert.match(await page.locator("#model-text").textContent(), /Drop test of a landing gear/);
    assert.ok(shown.every((plot) => plot.bands.every((band) => band === null || Number.isNaN(band))), "bands without errors");
    assert.deepEqual(wrong, []);
    await close();
  },

  "estimated errors are bands about the curves and stand beside the values": async () => {
    const {report, summary} = simulate("pendulum", "--accuracy", "--set", "simulate.step=0.1");
    const {channels} = summary.accuracy;
    const {page, wrong, close} = await open(browser, report);
    const shown = await page.evaluate(() => window.alphastep.plots);
    let seen = 0;
    for (const plot of shown)
      plot.channels.forEach((name, i) => {
        const known = channels.find((channel) => channel.name === name);
        if (!known) return;
        near(plot.bands[i], known.error, 0.03 * known.error, `band of ${name}`); // two digits, rounded up
        if (known.error > 0) seen++;
      });
    assert.ok(seen >= 2, `only ${seen} bands`);
    const names = shown.flatMap((plot) => plot.channels);
    const values = await page.locator("#plots .legend li b").allTextContents();
    names.forEach((name, i) => channels.some((channel) => channel.name === name) && assert.match(values[i], / ± /, `value of ${name}`));
    const title = await page.locator("#plots .legend li").first().getAttribute("title");
    assert.match(title, /estimated error at most/);
    assert.match(await page.locator("#facts").textContent(), /Estimated errors.*steps of 0\.05 s/s);
    const [picture] = await Promise.all([page.waitForEvent("download"), page.locator("#plots article button", {hasText: "SVG"}).first().click()]);
    assert.match(readFileSync(await picture.path(), "utf8"), /class="band" d="M/);
    const [filled, bare] = await Promise.all([report, simulate("pendulum", "--set", "simulate.step=0.1").report].map(async (path, i) => {
      const other = i === 0 ? {page, close: () => undefined} : await open(browser, path);
      const pixels = await other.page.locator("#plots canvas").first().evaluate((canvas) => {
        const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return data.filter((alpha, at) => at % 4 === 3 && alpha > 40 && alpha < 90).length; // of a band: a quarter
      });
      await other.close();
      return pixels;
    }));
    assert.ok(filled > 2 * bare + 500, `the band has ${filled} pixels, where ${bare} are without it`);
    assert.deepEqual(wrong, []);
    await close();
  },
};

const good = await run(tests);
await browser.close();
process.exit(good ? 0 : 1);
