/**
 * Every public method of the official SDK, called on `memrl serve`: the table of docs/tinker.md is what came of it. `weights`: what
 * PEFT and transformers open of the service's weights computes the same.
 */
import { join } from 'node:path';
import { cookbookPython, replaceTable, root, runPython, withService } from './support.js';

const results = { works: 'works', refused: 'refused', cannot: 'cannot be here' };
/** Differences of single precision, as a share of the greatest log-probability. */
const mostDifference = 1e-6;

export async function callMethods() {
  const python = cookbookPython();
  await withService(async ({ url }) => {
    const { version, rows } = JSON.parse(await runPython(python, [join(root, 'scripts/tinker/methods.py')], { url }));
    const wrong = rows.filter(({ outcome }) => !Object.hasOwn(results, outcome));
    if (wrong.length > 0) throw new Error(`The service answered these wrongly: ${wrong.map(nameOf).join(', ')}`);
    replaceTable('methods', () => tableOf(version, rows));
    console.log(`${rows.length} rows of SDK ${version}: ${countsOf(rows)}`);
  });
}

function countsOf(rows) {
  const count = (outcome) => rows.filter((row) => row.outcome === outcome).length;
  return Object.entries(results).map(([outcome, words]) => `${count(outcome)} ${words}`).join(', '); // prettier-ignore
}

function tableOf(version, rows) {
  const lines = rows.map((row) => `| ${nameOf(row)} | ${results[row.outcome]} | ${wordsOf(row)} |`);
  const head = [`| SDK ${version} | | what it says |`, '| --- | --- | --- |'];
  return [...head, ...lines].join('\n');
}

function nameOf({ class: owner, method, twin, setting }) {
  if (setting) return `\`${owner}\`: ${method}`;
  return `\`${owner}.${method}\`${twin ? ', `…_async`' : ''}`;
}

/** On one line, without what differs from run to run. */
function wordsOf({ words }) {
  const line = words.split('\n')[0];
  return line
    .replace(/tinker:\/\/[\w-]+:/g, 'tinker://…:')
    .replaceAll('|', '\\|')
    .trim();
}

export async function openWeights() {
  const python = cookbookPython();
  await withService(async ({ url }) => {
    const said = await runPython(python, [join(root, 'scripts/tinker/weights.py')], { url });
    const { 'base model, which must differ': base, ...differences } = JSON.parse(said.trim().split('\n').at(-1));
    if (base < 1e-3) throw new Error(`The trained model says what its base model says: ${base}`);
    for (const [name, value] of Object.entries(differences)) {
      console.log(`${name}: ${value.toExponential(1)}`);
      if (!(value <= mostDifference)) throw new Error(`${name} computes something else.`);
    }
  });
}
