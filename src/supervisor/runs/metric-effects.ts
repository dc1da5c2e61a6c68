import type { GroupId } from '../../base/ids.js';
import { isOpen } from '../../scheduler/queue/groups.js';
import type { SchedulerState } from '../../scheduler/state.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { EventLoop } from '../core/event-loop.js';
import type { Warnings } from './warnings.js';
import type { WatchListener } from './watcher.js';

type MetricEffectTools = {
  state: SchedulerState;
  loop: Pick<EventLoop, 'tell' | 'changed'>;
  warnings: Warnings;
  log: (line: string) => void;
  now: () => number;
};

/** What follows from what the metrics of runs say. */
export function metricEffects(tools: MetricEffectTools): WatchListener {
  const { state, loop, warnings, log, now } = tools;
  return {
    ...{ log, now },
    changed: (id) => loop.changed([id]),
    recalled: () => loop.changed([]),
    ruleMet: (id, attempt, rule) => {
      if (state.runs.get(id)?.state.phase !== 'running') return;
      loop.tell({ type: 'rule-met', at: now(), id, attempt, rule });
    },
    targetReached: (run, reason) => holdRest(run, reason, tools),
    hindered: (id, words) => warnings.set(id, 'metrics', words),
  };
}

/** What is up may finish; what waits is held, so that a person can have it all the same; and nothing further is proposed. */
function holdRest({ id }: PlannedRun, reason: string, { state, loop, log, now }: MetricEffectTools): void {
  const group = state.groups.get(state.runs.get(id)?.group as GroupId);
  if (group === undefined) return;
  const ids = [...group.waiting];
  log(`${reason}; ${ids.length} runs are held`);
  if (isOpen(group)) loop.tell({ type: 'groups-closed', at: now(), groups: [group.id], reason });
  if (ids.length > 0) loop.tell({ type: 'hold-requested', at: now(), ids, reason });
}
