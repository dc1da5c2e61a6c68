import { truncate } from '../text/display-width.js';
import { durationText } from '../text/duration.js';
import { counted, shortNumber } from '../text/numbers.js';
import { plainAscii } from '../text/ascii.js';
import { lineText } from '../text/display-text.js';
import { type Column, tableLines } from '../text/table.js';
import { wrap } from '../text/wrap.js';
import type { StoppedRun, WouldStop } from './early-stop-replay.js';
import type { Page } from './report-lines.js';

/** What a rule would have ended, as text: what it would have saved and cost, then each run with the reason. */
export function wouldStopLines(result: WouldStop, { width, ascii }: Page): string[] {
  const spell = ascii ? (text: string) => plainAscii(lineText(text)) : lineText;
  const { name, goal } = result.objective;
  const head = `${result.sweep} · what ${result.rule} would have ended, to ${goal} ${name}`;
  const table = result.stopped.length === 0 ? [] : ['', ...tableLines(columns(result.stopped, spell), width)];
  const lines = [
    truncate(spell(head), width),
    '',
    ...sentences(result).flatMap((sentence) => wrap(spell(sentence), width)),
    ...table,
  ];
  // What is left are rules and ellipses, of one column each.
  return lines.map(spell);
}

function sentences({ stopped, kept, silent, savedShare, savedMs, lostBest }: WouldStop): string[] {
  const saved = `${Math.round(savedShare * 100)} % of the run time (${roughly(savedMs)})`;
  const best =
    lostBest.length === 0
      ? 'The best run of every group would have kept running.'
      : `It would have cost the best run of ${lostBest.length === 1 ? 'a group' : `${lostBest.length} groups`}: ${lostBest.join(', ')}.`;
  return [
    stopped.length === 0
      ? `None of ${counted(kept.length, 'run')} would have ended early.`
      : `${stopped.length} of ${counted(stopped.length + kept.length, 'run')} would have ended early; ${saved} would have been saved.`,
    ...(stopped.length === 0 ? [] : [best]),
    ...(silent.length === 0 ? [] : [`${counted(silent.length, 'run')} never wrote the metric: ${silent.join(', ')}.`]),
  ];
}

/** In a sentence, two units are enough: `2h3m`, `45s`. */
function roughly(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const unit = seconds < 600 ? 1 : seconds < 36_000 ? 60 : 3600;
  return durationText(Math.round(seconds / unit) * unit);
}

function columns(stopped: readonly StoppedRun[], spell: (text: string) => string): Column[] {
  const column = (title: string, align: Column['align'], cellOf: (run: StoppedRun) => string): Column => ({
    title: spell(title),
    align,
    cells: stopped.map((run) => spell(cellOf(run))),
    spare: 0,
  });
  return [
    column('run', 'left', ({ run }) => run),
    column('ended at', 'right', ({ iteration }) => String(iteration)),
    column('of', 'right', ({ iterations }) => String(iterations)),
    { ...column('final', 'right', ({ final }) => shortNumber(final)), spare: 1 },
    column('why', 'left', ({ why }) => why.replace(/^\w+: /, '')),
  ];
}
