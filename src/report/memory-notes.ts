import { COLLAPSED_BITS, MEMORISED_SHARE, STUCK_PROBABILITY } from '../analysis/verdict.js';
import type { MemoryRow } from '../analysis/memory-summary.js';
import { marks } from './memory-table.js';
import { countText, shortNumber } from '../text/numbers.js';

/** What the words and marks of the memory tables mean; only those that occur in them. */
export function memoryNotes(rows: readonly MemoryRow[]): string[] {
  if (rows.length === 0) return [];
  const some = (count: (row: MemoryRow) => number) => rows.some((row) => count(row) > 0);
  return [
    `memorised: from that evaluation on, every one knew at least ${MEMORISED_SHARE * 100} % of the secret's log2 N bits.`,
    ...when(
      some(({ counts }) => counts.stuck),
      `stuck: ended sure (P > ${STUCK_PROBABILITY}) of a wrong answer.`,
    ),
    ...when(
      some(({ counts }) => counts.collapsed),
      `collapsed: ended with less than ${COLLAPSED_BITS} bits, the secret far less likely than by chance.`,
    ),
    ...when(
      some(({ counts }) => counts.censored),
      'censored: the budget ended before it memorised; neither stuck nor collapsed.',
    ),
    ...when(
      some(({ counts }) => counts.unfinished),
      'unfinished: failed, was killed or lost before its budget; left out of the medians.',
    ),
    ...when(
      some(({ counts }) => counts.unmeasured),
      'unmeasured: ended without an evaluation of bits.',
    ),
    'episodes, examples: the median over the seeds that memorised; all seeds: those that did not count as infinite.',
    'bits/…: log2 N over the median of all seeds.',
    'ceiling: the most bits one episode can carry: log2 of the number of rewards that can be told apart.',
    ...when(
      rows.some(({ ceiling }) => ceiling.kind === 'reference'),
      `${marks.reference} a continuous reward has no such number; given is the entropy of the distance of a uniform guess.`,
    ),
    ...rows.filter(({ topRewardTies: ties }) => ties > 1).map(tieNote),
    ...resolutionNote(rows),
  ];
}

function tieNote({ N, bins, topRewardTies: ties, reachableBits: reachable, secretBits }: MemoryRow): string {
  return (
    `${marks.tie} N=${N} B=${bins}: ${ties} neighbouring integers earn the top reward, so ${shortNumber(reachable)} of ` +
    `${shortNumber(secretBits)} bits are all that the reward asks for.`
  );
}

/** Said only where it matters: the time between evaluations is a good part of the time measured. */
function resolutionNote(rows: readonly MemoryRow[]): string[] {
  const coarse = rows.filter(({ resolution, episodes }) => resolution !== null && resolution > 0.1 * episodes!.median);
  if (coarse.length === 0) return [];
  const most = Math.max(...coarse.map(({ resolution }) => resolution!));
  return [`Some numbers are coarse: there were up to ${countText(most)} episodes between evaluations.`];
}

function when(holds: boolean, note: string): string[] {
  return holds ? [note] : [];
}
