import type { Block } from '../file/block.js';
import { inherited, inheritedOrNone, type Content, type Layers, type SharedKey } from '../file/layers.js';
import { Breaker, EarlyTerminate, Objective, Resources, RetryRule } from '../planned-run.js';

type Policy = Pick<
  Block,
  | 'grace'
  | 'timeout'
  | 'priority'
  | 'stdin'
  | 'terminal'
  | 'retry'
  | 'breaker'
  | 'start'
  | 'objective'
  | 'earlyTerminate'
  | 'resources'
>;

/** How the runs of a group are treated, with all defaults. */
export function policyOf(layers: Layers): Policy {
  const early = inheritedOrNone(layers, 'early_terminate');
  const breaker = said(layers, 'breaker', {});
  return {
    grace: said(layers, 'grace', 10),
    timeout: said(layers, 'timeout', null),
    priority: said(layers, 'priority', 0),
    stdin: said(layers, 'stdin', 'none'),
    terminal: said(layers, 'terminal', false),
    retry: RetryRule.parse(said(layers, 'retry', { max: 0 })),
    breaker: breaker === false ? null : Breaker.parse(breaker),
    start: said(layers, 'start', null),
    objective: objectiveOf(layers),
    earlyTerminate: early && { content: EarlyTerminate.parse(early.content), keys: early.keys },
    resources: Resources.parse({ ...layers.sweep.resources, ...layers.group.resources, ...slurmOf(layers) }),
  };
}

function said<Key extends SharedKey>(layers: Layers, key: Key, usual: Content<Key>): Content<Key> {
  return inherited(layers, key)?.content ?? usual;
}

function slurmOf({ sweep, group }: Layers): Pick<Resources, 'slurm'> {
  const slurm = { ...sweep.slurm, ...group.slurm };
  return Object.keys(slurm).length === 0 ? {} : { slurm };
}

function objectiveOf(layers: Layers): Objective | null {
  const said = inheritedOrNone(layers, 'metric')?.content;
  if (said === undefined) return null;
  return Objective.parse(said);
}
