import { join } from 'node:path';
import type { ReportedRun } from '../../analysis/analysed-run.js';
import { readSamples, type Sample, samplesAt, stepsOf } from '../../logs/samples.js';
import { terminalText } from '../../text/display-text.js';
import { NOTHING, shortNumber } from '../../text/numbers.js';
import { html, type Markup, tableOf } from './markup.js';

/** The samples of a run's last step: all, and the best and the worst of them; and the paths of its latest pictures. */
export type RunSamples = {
  readonly run: string;
  readonly step: number | null;
  readonly all: readonly Sample[];
  readonly shown: readonly Sample[];
  readonly images: readonly string[];
};

/**
 * Limits of a page: runs that are looked at, and shown; samples from either end of a run; characters of a text; pictures of a run;
 * runs beside each other, and prompts for them.
 */
const MOST_LOOKED_AT = 48;
const MOST_RUNS = 12;
const FROM_EACH_END = 4;
const LONGEST = 2000;
const MOST_IMAGES = 20;
const MOST_BESIDE = 4;
const MOST_COMMON = 8;

/** Reads what the models of the first runs that have samples wrote at the end. */
export async function readPageSamples(runs: readonly ReportedRun[]): Promise<RunSamples[]> {
  const found: RunSamples[] = [];
  for (const { name, directory } of runs.slice(0, MOST_LOOKED_AT)) {
    if (found.length === MOST_RUNS) break;
    const samples = await readSamples(directory);
    const step = stepsOf(samples).at(-1) ?? null;
    const inOrder = samplesAt(samples, { step, order: 'best first' });
    const ends = [...inOrder.slice(0, FROM_EACH_END), ...inOrder.slice(FROM_EACH_END).slice(-FROM_EACH_END)];
    const images = samples.images.slice(-MOST_IMAGES).map(({ path }) => join(directory, path));
    if (ends.length + images.length > 0) found.push({ run: name, step, all: inOrder, shown: ends, images });
  }
  return found;
}

export function samplesMarkup(samples: readonly RunSamples[]): Markup | null {
  if (samples.length === 0) return null;
  return html`<section>
    <h2>Samples</h2>
    <p class="note">The last step of each run: the best and the worst by reward.</p>
    ${samples.map(runMarkup)} ${commonMarkup(samples)}
  </section>`;
}

function runMarkup({ run, step, shown, images }: RunSamples): Markup {
  const head = ['reward', 'length', 'prompt', 'completion'].map((title) => html`<th scope="col">${title}</th>`);
  const rows = shown.map(({ reward, length, prompt, completion }) => {
    const number = reward === null ? NOTHING : shortNumber(reward);
    return html`<tr>
      <td class="right">${number}</td>
      <td class="right">${length}</td>
      <td class="sample">${text(prompt)}</td>
      <td class="sample">${text(completion)}</td>
    </tr>`;
  });
  return html`<details>
    <summary>${run}${step === null ? '' : `, step ${step}`}</summary>
    ${rows.length === 0 ? null : tableOf(head, rows)} ${imagesMarkup(images)}
  </details>`;
}

function imagesMarkup(images: readonly string[]): Markup | null {
  if (images.length === 0) return null;
  return html`<p class="note">Pictures:</p>
    <ul>
      ${images.map((path) => html`<li>${terminalText(path)}</li>`)}
    </ul>`;
}

/** What the first runs answered to the prompts that most of them have in common, the best of each; null: there is none. */
function commonMarkup(samples: readonly RunSamples[]): Markup | null {
  const runs = samples.filter(({ all }) => all.length > 0).slice(0, MOST_BESIDE);
  const best = runs.map(({ all }) => new Map(all.toReversed().map((sample) => [sample.prompt, sample])));
  const counts = new Map<string, number>();
  for (const prompts of best) for (const prompt of prompts.keys()) counts.set(prompt, (counts.get(prompt) ?? 0) + 1);
  const common = [...counts].filter(([, count]) => count > 1).sort(([, a], [, b]) => b - a);
  if (common.length === 0) return null;
  const titles = ['prompt', ...runs.map(({ run, step }) => `${run}${step === null ? '' : `, step ${step}`}`)];
  const rows = common.slice(0, MOST_COMMON).map(([prompt]) => {
    const cells = best.map((prompts) => {
      const sample = prompts.get(prompt);
      if (sample === undefined) return html`<td></td>`;
      const { reward, completion } = sample;
      return html`<td class="sample">
        ${reward === null ? '' : `reward ${shortNumber(reward)}: `}${text(completion)}
      </td>`;
    });
    return html`<tr>
      <td class="sample">${text(prompt)}</td>
      ${cells}
    </tr>`;
  });
  return html`<details>
    <summary>The same prompts, run beside run</summary>
    ${tableOf(
      titles.map((title) => html`<th scope="col">${title}</th>`),
      rows,
    )}
  </details>`;
}

function text(written: string): string {
  const clean = terminalText(written);
  return clean.length <= LONGEST ? clean : `${clean.slice(0, LONGEST)}…`;
}
