import { counted, sizeText } from '../../text/numbers.js';
import { tableLines } from '../../text/table.js';
import type { RunPlan } from './clean-plan.js';

/** A table of what would be deleted in each run, and the sum. */
export function cleanLines(plans: readonly RunPlan[], width: number): string[] {
  const areSeveral = new Set(plans.map(({ run }) => run.sweep)).size > 1;
  const bytes = plans.reduce((sum, plan) => sum + plan.bytes, 0);
  return [
    ...tableLines(
      [
        { title: 'run', align: 'left', spare: 0, cells: plans.map(({ run }) => (areSeveral ? run.id : run.name)) },
        { title: 'frees', align: 'right', spare: 0, cells: plans.map((plan) => sizeText(plan.bytes)) },
        { title: 'deletes', align: 'left', spare: 0, cells: plans.map(deletedWords) },
      ],
      width,
    ),
    '',
    `clean ${counted(plans.length, 'run')}: frees ${sizeText(bytes)}`,
  ];
}

/** The parts in words: `2 checkpoints, 3 attempts, the log of earlier attempts`. */
export function deletedWords({ all, run, items, left, remarks }: RunPlan): string {
  if (all) return `everything (${run.state})`;
  const count = (kind: string) => items.filter((item) => item.kind === kind).length;
  const log = items.find(({ kind }) => kind === 'log');
  const parts = [
    count('checkpoint') === 0 ? null : counted(count('checkpoint'), 'checkpoint'),
    count('attempt') === 0 ? null : counted(count('attempt'), 'attempt folder'),
    log === undefined ? null : log.cutAt === undefined ? 'the log' : 'the log of earlier attempts',
    left.length === 0 ? null : 'what an interrupted clean left',
  ];
  return [parts.filter((part) => part !== null).join(', '), ...remarks].filter((part) => part !== '').join('; ');
}
