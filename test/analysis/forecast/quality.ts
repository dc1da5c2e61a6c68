import type { Look } from './recorded-sweep.js';

/** Near the end, what is left is told to within so many seconds. */
const FLOOR = 3;

/** How good the looks of a recorded sweep were, from when three tenths of its time were over. */
export type Quality = {
  /** Share of the time in which the middle of the range was within a factor of 1.5 of the truth. */
  readonly near: number;
  /** Share of the time in which the truth lay in the range. */
  readonly covered: number;
  /** By how much the middle was off, typically: a factor. */
  readonly typical: number;
  /** The largest step from one second to the next in which no run started or ended: a factor. */
  readonly jump: number;
};

export function qualityOf(looks: readonly Look[]): Quality {
  const total = looks[0]!.at + looks[0]!.actual;
  const late = looks.filter(({ at }) => at >= 0.3 * total);
  const share = (test: (look: Look) => boolean) => late.filter(test).length / late.length;
  const errors = late.map(({ told, actual }) => Math.abs(Math.log(atLeastOne(told?.middle ?? 0) / atLeastOne(actual))));
  return {
    near: share(({ told, actual }) => told !== null && isNear(told.middle, actual)),
    covered: share(({ told, actual }) => told !== null && actual >= told.low - FLOOR && actual <= told.high + FLOOR),
    typical: Math.exp(errors.reduce((sum, error) => sum + error, 0) / errors.length),
    jump: Math.max(1, ...late.slice(1).map((look, index) => (look.hasEvent ? 1 : step(late[index]!, look)))),
  };
}

function isNear(told: number, actual: number): boolean {
  return Math.abs(told - actual) <= FLOOR || (told <= 1.5 * actual && told >= actual / 1.5);
}

/** From one look to the next, a second later. */
function step({ told: before }: Look, { told: after }: Look): number {
  if (before === null || after === null) return before === after ? 1 : Infinity;
  const [was, is] = [before.middle, after.middle + 1];
  return Math.abs(was - is) <= FLOOR ? 1 : Math.max(was / is, is / was);
}

function atLeastOne(seconds: number): number {
  return Math.max(1, seconds);
}
