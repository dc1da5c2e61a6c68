import type { ParameterRule } from './block.js';
import { WandbText, type SweepText } from './sweep-schema.js';

/**
 * Whether a file is one of W&B's: it has a `method` and no `groups`. Then W&B's ways hold: parameters in alphabetical order
 * at every level of nesting, each point once, nested parameters passed as one argument, macros that nobody knows left out.
 * Our own keys may still be added to it.
 */
export function isWandbFile(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'method' in value && !('groups' in value);
}

/** By the names from the outermost in, as `sorted(…)` at every level of nesting gives them. */
export function byPath(
  [, left]: readonly [string, ParameterRule],
  [, right]: readonly [string, ParameterRule],
): number {
  for (let level = 0; ; level += 1) {
    const [a, b] = [left.path[level], right.path[level]];
    if (a !== b) return a === undefined || (b !== undefined && a < b) ? -1 : 1;
    if (a === undefined) return 0;
  }
}

type Read =
  | { success: true; data: SweepText; notes: string[] }
  | Extract<ReturnType<typeof WandbText.safeParse>, { success: false }>;

/**
 * A W&B file in the words of ours. Its name may be any text, so it is made safe for a folder.
 *
 * `project` and `entity` become variables of the runs, so that their `wandb.init()` goes where the file says; a variable
 * of that name in `env` wins.
 */
export function readWandbText(value: unknown, safeName: (text: string) => string): Read {
  const said = WandbText.safeParse(value);
  if (!said.success) return said;
  const { name, project, entity, controller, ...rest } = said.data;
  const place = {
    ...(project === undefined ? {} : { WANDB_PROJECT: project }),
    ...(entity === undefined ? {} : { WANDB_ENTITY: entity }),
  };
  const named = name === undefined ? {} : { name: safeName(name) };
  const data = { ...rest, ...named, env: { ...place, ...rest.env } };
  return { success: true, data, notes: wandbNotes(controller !== undefined, rest.metric ?? {}) };
}

/** Keys that only W&B's server has a use for, said so that nobody waits for their effect. */
function wandbNotes(hasController: boolean, metric: { impute?: unknown; impute_while_running?: unknown }): string[] {
  const passed = [
    ...(hasController ? ['controller'] : []),
    ...(metric.impute === undefined ? [] : ['metric.impute']),
    ...(metric.impute_while_running === undefined ? [] : ['metric.impute_while_running']),
  ];
  return passed.map((key) => `\`${key}\` is for W&B's server; nothing here depends on it.`);
}
