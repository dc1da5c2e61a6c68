import { UserError } from '../../base/user-error.js';
import { importOwn, isModulePath, moduleName } from '../config/own-module.js';
import type { OwnObjective } from '../own-modules.js';
import { objectiveOf, type LossFn, type LossSettings, type Objective } from './objectives.js';

type Token = (lp: number, q: number, A: number) => number;

/**
 * Half the distance over which a derivative is estimated: the errors of rounding and of the formula are then of equal
 * size, some 1e-10.
 */
const nudge = 1e-5;

/**
 * The objective of a name, or the default export of a module: an object, or a function of the settings that returns
 * one.
 *
 * @throws UserError, also at the first token whose loss or gradient is not a finite number.
 */
export async function openObjective(name: string, settings: LossSettings): Promise<Objective> {
  if (!isModulePath(name)) return objectiveOf(name as LossFn, settings);
  const exported = await importOwn(name, 'objective');
  const own = (typeof exported === 'function' ? await (exported as (settings: LossSettings) => unknown)({ ...settings }) : exported) as Partial<OwnObjective> | null; // prettier-ignore
  return objectiveFrom(own, `The objective \`${name}\``, moduleName(name));
}

/**
 * A user's objective as one of ours; without a `gradient`, differences of its loss.
 *
 * @param called Its name in errors.
 * @throws UserError when it has no loss; also at the first token whose loss or gradient is not a finite number.
 */
export function objectiveFrom(own: Partial<OwnObjective> | null, called: string, name = 'own'): Objective {
  if (typeof own?.loss !== 'function') {
    throw new UserError(`${called} has no function \`loss\`.`, 'Write: export default { loss: (lp, q, A) => … };');
  }
  const loss: Token = own.loss;
  const differences: Token = (lp, q, A) => (loss(lp + nudge, q, A) - loss(lp - nudge, q, A)) / (2 * nudge);
  return {
    name: own.name ?? name,
    loss: finite(loss, `${called}: its loss`),
    gradient: finite(own.gradient ?? differences, `${called}: its gradient`),
    ...(own.clip !== undefined && { clip: own.clip }),
  };
}

function finite(of: Token, what: string): Token {
  return (lp, q, A) => {
    const value = of(lp, q, A);
    if (Number.isFinite(value)) return value;
    throw new UserError(`${what} is ${value} at lp=${lp}, q=${q}, A=${A}.`, 'Let it be a finite number everywhere.');
  };
}
