// Reports of real runs in a real browser, beside the results that they show.
// usage: report.mjs COMMAND [--only=PART OF A NAME]      COMMAND is alphastep

import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {readFileSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {folder, launch, needed, open, readCsv, root, run, skip} from "./browser.mjs";

const command = needed(process.argv[2] ?? "", "alphastep");
const place = folder();

/** Runs an example, or a file of its own; gives its report and its results. */
function simulate(machine, ...options) {
  const to = join(place, `${machine.replace(/.*\/|\.yaml$/g, "")}${options.join(" ").replace(/\W+/g, "-")}`);
  execFileSync(command, ["run", machine.endsWith(".yaml") ? machine : join(root, "examples/machines", machine, "model.yaml"), "-o", to, "--quiet", "--force", ...options], {stdio: ["ignore", "ignore", "inherit"]});
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

/** Moves a slider and waits until the page shows it. */
const slide = (page, id, value) => page.locator(id).evaluate((input, to) => {
  input.value = to;
  input.dispatchEvent(new Event("input"));
}, value);
const vector = (row, name, axes = ["x", "y", "z"]) => axes.map((axis) => row[Object.keys(row).find((key) => key.startsWith(`${name}.${axis} [`))]);
const beamTests = {
  "beams are coloured by what their sections carry": async () => {
    const {report, rows} = simulate("fishing-rod");
    const {page, wrong, close} = await open(browser, report);
    await page.waitForFunction(() => window.alphastep.colours.range[1] > 0);
    const most = Math.max(...rows.flatMap((row) => Object.keys(row).filter((key) => /^beams\.rod\.\d+\.stress /.test(key)).map((key) => Math.abs(row[key]))));
    const shown = await page.evaluate(() => window.alphastep.colours);
    assert.equal(`${shown.quantity} ${shown.unit}`, "stress Pa");
    near(shown.range[1], most, 1e-6 * most, "end of the scale");
    assert.equal(shown.range[0], 0); // of the free end, but for round-off
    assert.equal(await page.locator("#legend-high").textContent(), `${Number(most.toPrecision(3)).toExponential().replace("+", "")} Pa`);
    await page.locator("#scrub").press("Home");
    for (let i = 0; i < 12; i++) await page.locator("#scrub").press("PageUp"); // 2.4 s
    const {time} = await page.evaluate(() => window.alphastep);
    const row = rows.find((candidate) => Math.abs(candidate["time [s]"] - time) < 1e-9);
    const pixels = async (title) => {
      await page.locator("#colour").evaluate((select, to) => {
        select.value = to;
        select.dispatchEvent(new Event("change"));
      }, title);
      await page.waitForFunction((to) => (window.alphastep.colours.quantity ?? "") === to && (to === "" || !Number.isNaN(window.alphastep.station("rod", 0).value)), title);
      return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done(document.getElementById("view").toDataURL()))))));
    };
    const bare = await pixels("");
    assert.equal(await page.locator("#legend").isVisible(), false);
    const expected = {"bending moment": Math.hypot(...vector(row, "beams.rod.5.moment", ["y", "z"])), "axial force": vector(row, "beams.rod.5.force")[0], "shear force": Math.hypot(...vector(row, "beams.rod.5.force", ["y", "z"]))};
    for (const [title, value] of Object.entries(expected)) {
      assert.notEqual(await pixels(title), bare, title);
      const at = await page.evaluate(() => window.alphastep.station("rod", 5));
      near(at.value, value, 1e-6 * Math.abs(value), title);
    }
    assert.deepEqual(wrong, []);
    await close();
  },

  "their deformation is magnified against how they would move as rigid bodies": async () => {
    const rod = simulate("fishing-rod");
    const held = await open(browser, rod.report);
    await held.page.locator("#scrub").press("End");
    const at = (page, beam, station) => page.evaluate(([name, i]) => window.alphastep.station(name, i).position, [beam, station]);
    const end = rod.rows.at(-1);
    const real = vector(end, "beams.rod.16.position");
    (await at(held.page, "rod", 16)).forEach((x, i) => near(x, real[i], 1e-6, `end of the rod, ${i}`));
    await slide(held.page, "#magnify", "1");
    assert.match(await held.page.locator("#legend-name").textContent(), /deformation × 10$/);
    const slope = (50 * Math.PI) / 180;
    const rest = [2.7 * Math.cos(slope), 0, 1 + 2.7 * Math.sin(slope)];
    (await at(held.page, "rod", 16)).forEach((x, i) => near(x, rest[i] + 10 * (real[i] - rest[i]), 2e-5, `ten times the deflection, ${i}`));
    (await at(held.page, "rod", 0)).forEach((x, i) => near(x, [0, 0, 1][i], 1e-6, `the handle, ${i}`));
    await held.close();

    // A rod that both ends are free to turn at: its ends stay, its middle moves away from the line between them.
    const crank = await open(browser, simulate("flexible-slider-crank").report);
    await crank.page.locator("#scrub").press("End");
    const stations = async () => Promise.all([0, 4, 8].map((i) => at(crank.page, "rod", i)));
    const off = ([a, b, c]) => [0, 1, 2].map((i) => b[i] - (a[i] + c[i]) / 2);
    const before = await stations();
    await slide(crank.page, "#magnify", "1.3"); // 20
    const after = await stations();
    const along = [0, 1, 2].map((i) => (before[2][i] - before[0][i]) / 0.3);
    const across = (v) => {
      const part = v.reduce((sum, x, i) => sum + x * along[i], 0);
      return v.map((x, i) => x - part * along[i]);
    };
    for (const k of [0, 2]) across(after[k].map((x, i) => x - before[k][i])).forEach((x, i) => near(x, 0, 1e-5, `end ${k}, ${i}`));
    assert.ok(Math.hypot(...across(off(before))) > 1e-4);
    across(off(after)).forEach((x, i) => near(x, 20 * across(off(before))[i], 2e-5, `middle, ${i}`));
    assert.deepEqual([...held.wrong, ...crank.wrong], []);
    await crank.close();
  },

  "beams on each other's nodes stay together": async () => {
    const file = join(place, "corner.yaml");
    writeFileSync(file, `alphastep: 1
gravity: [0, 0, -9.81]
beams:
  post: {line: {points: [[0, 0, 0], [1, 0, 0]]}, elements: 2, section: {type: i, width: 0.02, height: 0.02, web: 0.004, flange: 0.004}, material: steel, damping: 0.01, first: ground}
  arm: {line: {points: [[1, 0, 0], [1, 1, 0]]}, elements: 2, section: {type: rectangle, width: 0.01, height: 0.02}, material: steel, damping: 0.01, first: post.2}
simulate: {t_end: 0.2, step: 2e-3}
output: {interval: 0.02}
`);
    const {page, wrong, close} = await open(browser, simulate(file).report);
    await page.locator("#scrub").press("End");
    await slide(page, "#magnify", "2");
    const [corner, start, tip] = await page.evaluate(() => [["post", 2], ["arm", 0], ["arm", 2]].map(([name, i]) => window.alphastep.station(name, i).position));
    corner.forEach((x, i) => near(start[i], x, 1e-6, `corner, ${i}`));
    assert.ok(tip[2] < corner[2] && corner[2] < -0.05, `the corner is drawn at ${corner}, the tip at ${tip}`);
    assert.deepEqual(wrong, []);
    await close();
  },

  "flexible bodies are drawn as they are deformed": async () => {
    const {report, rows} = simulate("flexible-satellite");
    const {page, wrong, close} = await open(browser, report);
    const look = () => page.evaluate(() => ({time: window.alphastep.time, east: window.alphastep.meshPoint("east", 43), west: window.alphastep.meshPoint("west", 43), scale: window.alphastep.meshes}));
    const picture = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(document.getElementById("view").toDataURL())))));
    await page.locator("#scrub").press("Home");
    for (let i = 0; i < 2; i++) await page.locator("#scrub").press("PageUp"); // 2 s
    const now = await look();
    const row = rows.find((candidate) => Math.abs(candidate["time [s]"] - now.time) < 1e-9);
    assert.equal(now.east.points, 44);
    for (const body of ["east", "west"]) {
      const u = vector(row, `flexible.${body}.44.deflection`);
      [5, 0.75, 0].forEach((rest, k) => near(now[body].place[k], rest + u[k], 1e-6, `${body}, ${k}`));
      near(now[body].value, Math.hypot(...u), 1e-6, `colour of ${body}`);
    }
    assert.equal(now.scale.quantity, "deflection");
    const most = Math.max(...rows.map((one) => Math.hypot(...vector(one, "flexible.east.44.deflection"))));
    near(now.scale.range[1], most, 0.02 * most, "end of the scale");
    const before = await picture();
    await page.locator("#magnify").evaluate((slider) => {
      slider.value = 2;
      slider.dispatchEvent(new Event("input"));
    });
    const then = await look();
    near(then.east.place[2], 100 * now.east.place[2], 1e-4, "magnified");
    assert.notEqual(await picture(), before);
    await page.locator("#colour").evaluate((select) => {
      select.value = "";
      select.dispatchEvent(new Event("change"));
    });
    assert.equal((await look()).scale.quantity, "");
    assert.deepEqual(wrong, []);
    await close();
  },
  "a page without beams has nothing of this": async () => {
    assert.doesNotMatch(readFileSync(top.report, "utf8"), /"beams":\[/);
    const {page, close} = await open(browser, top.report);
    assert.equal(await page.locator("#colour, #magnify").count(), 0);
    await close();
  },
};

const good = await run({...tests, ...beamTests});
await browser.close();
process.exit(good ? 0 : 1);
