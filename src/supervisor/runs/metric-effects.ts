import type { GroupId } from '../../base/ids.js';
import { isOpen } from '../../scheduler/queue/groups.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { EventLoop } from '../core/event-loop.js';
import type { Warnings } from './warnings.js';
import type { WatchListener } from './watcher.js';

type MetricEffectPorts = {
  loop: Pick<EventLoop, 'state' | 'now' | 'tell' | 'changed'>;
  warnings: Pick<Warnings, 'set'>;
  log: (line: string) => void;
};

/** What follows from what the metrics of runs say. */
export function metricEffects(ports: MetricEffectPorts): WatchListener {
  const { loop, warnings, log } = ports;
  return {
    ...{ log, now: () => loop.now() },
    changed: (id) => loop.changed([id]),
    recalled: () => loop.changed([]),
    ruleMet: (id, attempt, rule) => {
      if (loop.state.runs.get(id)?.state.phase !== 'running') return;
      loop.tell({ type: 'rule-met', at: loop.now(), id, attempt, rule });
    },
    targetReached: (run, reason) => holdRest(run, reason, ports),
    hindered: (id, words) => warnings.set(id, 'metrics', words),
  };
}

/** What is up may finish; what waits is held, so that a person can have it all the same; and nothing further is proposed. */
function holdRest({ id }: PlannedRun, reason: string, { loop, log }: MetricEffectPorts): void {
  const { state } = loop;
  const group = state.groups.get(state.runs.get(id)?.group as GroupId);
  if (group === undefined) return;
  const ids = [...group.waiting];
  log(`${reason}; ${ids.length} runs are held`);
  if (isOpen(group)) loop.tell({ type: 'groups-closed', at: loop.now(), groups: [group.id], reason });
  if (ids.length > 0) loop.tell({ type: 'hold-requested', at: loop.now(), ids, reason });
}
