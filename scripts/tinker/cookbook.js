/**
 * The recipes of the unmodified cookbook on `memrl serve`, and the table of docs/tinker.md of what they learn.
 *
 * There is no hub: two models of `memrl serve` are taught by the cookbook itself, and then served under names of the hub, from whose
 * directories the recipes take the tokenizers; see `hub.js`. Every recipe begins with these weights.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { writeHub } from './hub.js';
import { bases, elsewhere, recipes } from './recipes.js';
import { cookbookPython, exportWeights, jsonLinesOf, keysOf, replaceTable, runPython, withService } from './support.js';

const sentenceCount = 150;

/**
 * @param only Names of recipes, or parts of them; none: all.
 * @param kept Directory that keeps data sets, taught models and logs for the next time; undefined: a temporary one.
 */
export async function runRecipes(only, kept) {
  const chosen = chosenOf(only);
  const kitchen = {
    python: cookbookPython(),
    place: kept === undefined ? mkdtempSync(join(tmpdir(), 'memrl-cookbook-')) : resolve(kept),
  };
  mkdirSync(kitchen.place, { recursive: true });
  try {
    const about = await aboutCookbook(kitchen);
    writeHub(kitchen.place, about.sentences);
    // `datasets` takes a directory that it knows for what it was.
    rmSync(join(kitchen.place, 'cache'), { recursive: true, force: true });
    const done = (row) => {
      writeRow(row, about);
      return row;
    };
    const failed = [];
    for (const base of bases) {
      if (!existsSync(join(kitchen.place, base.names[0]))) done(await teach(base, about, kitchen));
    }
    const names = bases.flatMap((base) => base.names);
    const served = { keys: [`model=${names.join(',')}`], cwd: kitchen.place };
    await withService(async (service) => {
      for (const recipe of chosen) {
        const row = done(await cook(recipe, { ...kitchen, ...service }));
        if (row.failure !== undefined) failed.push(nameOf(row));
      }
    }, served);
    if (failed.length > 0) console.error(`These recipes fail: ${failed.join(', ')}.`);
    process.exitCode = Math.min(failed.length, 1);
  } finally {
    if (kept === undefined) rmSync(kitchen.place, { recursive: true, force: true });
  }
}

/** The recipes of these names, and those whose weights are their teachers. */
function chosenOf(only) {
  const named = recipes.filter(({ module }) => only.length === 0 || only.some((name) => module.includes(name)));
  if (named.length === 0) {
    const all = new Set(recipes.map(({ module }) => module));
    console.error(`There is no recipe ${only.join(' or ')}.\n\n→ Choose among: ${[...all].join(', ')}.`);
    process.exit(2);
  }
  const teachers = new Set(named.flatMap((recipe) => Object.values(recipe.teachers ?? {})));
  return recipes.filter((recipe) => named.includes(recipe) || teachers.has(recipe.module));
}

/** Versions, and texts of the cookbook that lessons are made of. */
export async function aboutCookbook({ python, place }) {
  const program = `import importlib.metadata as m, json, pathlib, platform
import tinker_cookbook
from tinker_cookbook.recipes.prompt_distillation.create_data import LANGUAGE_CLASSIFICATION_PROMPT as prompt
home = pathlib.Path(tinker_cookbook.__file__).parent
lines = lambda path: (home / path).read_text(encoding="utf-8").splitlines()
versions = {name: m.version(name) for name in ("tinker", "tinker-cookbook", "torch", "transformers")}
print(json.dumps({
    "versions": {**versions, "Python": platform.python_version()}, "prompt": prompt,
    "nouns": lines("recipes/multiplayer_rl/twenty_questions/common_english_nouns.txt"),
    "sentences": lines("example_data/multilingual.txt")[:${sentenceCount}],
}))`;
  return JSON.parse(await runPython(python, ['-c', program], { cwd: place }));
}

/** Teaches a model from random weights, and puts it where it has names of the hub. @returns its row of the table. */
export async function teach({ model, lessons, names, ...recipe }, about, { python, place }) {
  return withService(async ({ url, directory }) => {
    const dataset = join(place, 'lessons.jsonl');
    writeFileSync(dataset, lessons(about));
    const keys = { ...recipe.keys, model_name: await directoryOf(python, model, url), dataset };
    const row = await cook({ ...recipe, keys }, { python, place, url });
    if (row.failure !== undefined) throw new Error(`${nameOf(row)} fails, and all others begin with what it learns.`);
    for (const name of names) exportWeights(directory, pathOf(row.log, 'state_path'), join(place, name));
    return row;
  });
}

/** The directory in which a model's tokenizer lies. */
async function directoryOf(python, model, url) {
  const program = `import tinker
print(tinker.ServiceClient().create_lora_training_client("${model}", rank=1).result().get_info().model_data.tokenizer_id)`;
  return (await runPython(python, ['-c', program], { url })).trim();
}

/** Runs a recipe to its end. @returns its row of the table. */
export async function cook(recipe, { python, place, url }) {
  const { module, as = '', keys, teachers = {}, shows } = recipe;
  const log = join(place, recipe.home ?? `logs/${module}${as && ` ${as}`}`);
  const row = { module, as, log, shows };
  // The cookbook asks at the terminal what to do with the log of an earlier run.
  rmSync(log, { recursive: true, force: true });
  try {
    const checkpoints = Object.fromEntries(Object.entries(teachers).map(([key, from]) => [key, pathOf(join(place, 'logs', from), 'sampler_path')])); // prettier-ignore
    const given = { ...(recipe.home === undefined && { log_path: log }), ...keys, ...checkpoints };
    const variables = {
      ...{ TINKER_COOKBOOK_RUNS_DIR: join(place, 'runs'), HF_HOME: join(place, 'cache') },
      ...{ HF_DATASETS_OFFLINE: '1', TOKENIZERS_PARALLELISM: 'false' },
    };
    await runPython(python, ['-m', `tinker_cookbook.recipes.${module}`, ...keysOf(given)], {
      url,
      cwd: place,
      variables,
    });
    Object.assign(row, measured(shows, { log, place }));
  } catch (error) {
    row.failure = error.message.trim().split('\n').at(-1).replaceAll('|', '\\|');
    console.error(error.message);
  }
  console.log(lineOf(row));
  return row;
}

export function measured({ metric, over, least, lines }, { log, place }) {
  if (lines !== undefined) {
    const after = jsonLinesOf(join(place, lines)).length;
    return { before: 0, after, ...(after < least && { failure: `only ${after} lines` }) };
  }
  const values = jsonLinesOf(join(log, 'metrics.jsonl')).flatMap((row) =>
    typeof row[metric] === 'number' ? [row[metric]] : [],
  );
  if (values.length < 2 * over) return { failure: `${metric} has ${values.length} values` };
  const mean = (part) => part.reduce((sum, each) => sum + each, 0) / part.length;
  const [before, after] = [mean(values.slice(0, over)), mean(values.slice(-over))];
  const learns = least === undefined || (after - before) * Math.sign(least) >= Math.abs(least);
  return {
    before,
    after,
    steps: values.length,
    ...(!learns && { failure: `${metric} goes from ${before} to ${after}` }),
  };
}

function pathOf(log, key) {
  return jsonLinesOf(join(log, 'checkpoints.jsonl')).findLast((row) => row[key] !== undefined)[key];
}

function nameOf({ module, as }) {
  return as ? `${module} (${as})` : module;
}

function lineOf({ failure, shows, before, after, ...row }) {
  return `${nameOf(row)}: ${failure === undefined ? `${shows.name} ${figure(before)} → ${figure(after)}` : `FAILS, ${failure}`}`;
}

function figure(value) {
  return Number.isInteger(value) ? String(value) : Number(value.toPrecision(3)).toString();
}

/** Writes a row in the place of the recipe's earlier one in docs/tinker.md. */
export function writeRow({ failure, shows, before, after, steps, ...row }, { versions }) {
  const tried = Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(', '); // prettier-ignore
  const key = ({ module, as = '' }) => `| \`${module}\`${as && `, ${as}`} |`;
  const result =
    failure === undefined
      ? `${shows.name} | ${figure(before)} → ${figure(after)} | ${steps ?? ''}`
      : `fails: ${failure} | | `;
  const order = [...bases, ...recipes].map(key);
  replaceTable('recipes', (earlier) => {
    const rows = new Map(earlier.split('\n').filter((line) => line.startsWith('| `')).map((line) => [/^.*? \|/.exec(line)[0], line])); // prettier-ignore
    rows.set(key(row), `${key(row)} ${result} |`);
    const lines = order.flatMap((each) => rows.get(each) ?? []);
    const others = Object.entries(elsewhere).map(([module, why]) => `| \`${module}\` | ${why} | | |`);
    return [
      `${tried}.`,
      '',
      '| recipe | figure | first → last | steps |',
      '| --- | --- | --- | --- |',
      ...lines,
      ...others,
    ].join('\n');
  });
}
