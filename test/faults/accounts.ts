import { readFileSync } from 'node:fs';
import { emptyState } from '../../src/scheduler/state.js';
import { readRunRecord } from '../../src/files/run-directory/run-record-file.js';
import { parseJournal } from '../../src/supervisor/core/journal-text.js';
import { recover } from '../supervisor/core/recover.js';
import { idOf, type Scene } from './scene.js';
import type { Entry } from './ledger.js';
import type { Ordained } from './runs.js';
import type { Account } from './verdict.js';

/** What is known of every run when all is over: by its row, its journal, its record, and by the run itself. */
export function accounts(scene: Scene): Account[] {
  const ends = endsByJournal(scene);
  const entries = new Map<string, Entry[]>();
  for (const entry of scene.ledger.entries()) entries.set(entry.run, [...(entries.get(entry.run) ?? []), entry]);
  return [...scene.all, ...scene.side].flatMap((run) => {
    const id = idOf(run);
    const row = scene.fleet.runs.get(id);
    if (row === undefined) {
      scene.wrong.push(`${id} is unknown`);
      return [];
    }
    const own = entries.get(id) ?? [];
    const processes = new Set(own.map(({ process }) => process));
    return [
      {
        ...{ run, row, entries: own, journal: ends.get(id), record: recordOf(scene, run) },
        blows: scene.blows.filter(({ process }) => processes.has(process)),
      },
    ];
  });
}

function recordOf({ bed }: Scene, run: Ordained): Account['record'] {
  if (run.kind === 'spoiler' || run.kind === 'broken') return null;
  const record = readRunRecord(bed.path(...idOf(run).split('/')));
  return record?.attempts.map(({ number, outcome }) => ({ number, end: outcome?.kind ?? null })) ?? null;
}

/** What the journal alone makes of each run. */
function endsByJournal({ bed }: Scene): Map<string, string> {
  const path = bed.path('.supervisor', 'journal.jsonl');
  const state = emptyState();
  recover(state, parseJournal(readFileSync(path), path), path);
  return new Map(
    [...state.runs.values()].map((run) => [
      run.id,
      run.state.phase === 'ended' ? run.state.outcome.kind : run.state.phase,
    ]),
  );
}
