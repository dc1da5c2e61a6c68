import { cellsOf, originsOf } from '../../../analysis/cells.js';
import type { ReportedRun } from '../../../analysis/analysed-run.js';
import type { Study } from '../../../contract/study.js';
import { RunRows } from '../run-rows.js';
import type { SweepGroup } from '../sweep-runs.js';
import type { MemorySection } from '../memory/sections.js';
import type { Claim, Figure, Verdict } from './claim.js';
import {
  agreementText,
  claims,
  expectedText,
  type JudgedClaim,
  judgeClaim,
  quantityText,
  sweepNameOf,
} from './claim-text.js';
import { type ClaimSection, computeMeasure } from './measures.js';

type StudyVerdict = Study['verdicts'][number];

/** Verdicts on the claims that a sweep tests, from its runs alone; published figures do not count here. */
export function verdictsOf(sweep: string, sections: readonly ClaimSection[]): StudyVerdict[] {
  const figure = ({ measure }: Figure) => (measure === undefined ? null : computeMeasure(measure, sections));
  return claimsOf(sweep)
    .map((claim) => judgeClaim(claim, { figure, cell: () => null }))
    .map(({ claim: { claim, document, section }, verdict, figures }) => ({
      ...{ claim: `${claim} (${document}, ${section})`, verdict: words[verdict], figures: figures.map(figureText) },
    }));
}

const words = {
  'holds here': 'holds',
  'holds in part': 'in part',
  'does not hold here': 'does not hold',
  'not decided here': 'not decided',
  'not tried': 'not tried',
} as const satisfies Readonly<Record<Verdict, StudyVerdict['verdict']>>;

/** `episodes over examples, N = 64: 40 [22.2, 80.0] times n=12, expected about 6: contradicts`. */
function figureText(figure: JudgedClaim['figures'][number]): string {
  const { what, unit, quantity, expected } = figure;
  const n = quantity?.n == null ? '' : `n=${quantity.n}`;
  const value = quantity === null ? '–' : [quantityText(quantity), unit, n].filter((part) => part !== '').join(' ');
  return `${what}: ${value}, expected ${expectedText(expected)}: ${agreementText(figure)}`;
}

function claimsOf(sweep: string): Claim[] {
  return claims.filter(({ tried }) => tried.by === 'sweep' && sweepNameOf(tried.sweep) === sweep);
}

/** Input of the claims on a sweep: its memory groups, and metrics of other groups that a claim names. */
export function claimSections(
  sweep: string,
  groups: readonly SweepGroup[],
  memory: readonly MemorySection[],
): ClaimSection[] {
  const named = claimsOf(sweep).flatMap(({ tried }) => (tried.by === 'sweep' ? tried.figures : []));
  const metrics = named.flatMap(({ measure }) =>
    measure?.kind === 'mean' || measure?.kind === 'difference' ? [measure] : [],
  );
  const metricsOf = (group: string) => [
    ...new Set(metrics.flatMap((each) => (each.group === group ? each.metric : []))),
  ];
  return [
    ...memory.map(({ group, rows }) => ({ kind: 'memory' as const, group, rows })),
    ...groups.flatMap(({ name, runs }) => {
      const keys = metricsOf(name);
      return keys.length === 0 ? [] : [{ kind: 'metrics' as const, group: name, rows: measuredRows(runs, keys) }];
    }),
  ];
}

function measuredRows(runs: readonly ReportedRun[], keys: readonly string[]) {
  return cellsOf(runs).map(({ title, varies, runs: own }) => ({
    ...{ title, varies },
    results: originsOf(own).map((origin, index) => {
      const rows = new RunRows(own[index]!.directory);
      return { ...origin, values: Object.fromEntries(keys.map((key) => [key, rows.last(key) ?? null])) };
    }),
  }));
}
