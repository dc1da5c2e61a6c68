import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../src/base/user-error.js';
import {
  ClientMessage,
  encode,
  MessageReader,
  type ServerMessage,
  ServerMessage as ServerMessages,
} from '../../src/protocol/message.js';
import { snapshotOf } from '../../src/scheduler/snapshot.js';
import { emptyState } from '../../src/scheduler/state.js';
import { beginningParts, eventLine, parseJournal } from '../../src/supervisor/core/journal-text.js';
import { recover } from '../supervisor/core/recover.js';
import { parseSweepFile } from '../../src/spec/file/parse-sweep-file.js';
import { numbers } from '../faults/fault-plan.js';
import { started } from '../scheduler/play.js';
import { SharedParts } from '../../src/spec/plan-text.js';
import { plan } from '../supervisor/testbed.js';
import { mutant } from './mutant.js';

/** How many of each kind; `MUTATIONS=100000` for the long form. */
const COUNT = Number(process.env['MUTATIONS'] ?? 600);
/** Longer than any of them may take, ms: to tell a hang from work. */
const PATIENCE_MS = 5000;

const version1 = readFileSync('test/fixtures/journals/version-1.jsonl');

/** The same history as a snapshot with an event after it. */
function version2(): Buffer {
  const state = emptyState();
  recover(state, parseJournal(version1, 'old'), 'old');
  return Buffer.from([...beginningParts(snapshotOf(state)), eventLine(started('a'))].join(''));
}

const requests: ClientMessage[] = [
  { type: 'hello', version: 1 },
  { type: 'submit', request: 1, plan: plan('/runs', 's', [{}, {}]), environment: { A: 'b' }, slots: {}, more: false },
  { type: 'page', request: 2, page: new SharedParts().pageOf(plan('/runs', 's', [{}, {}]).runs), of: 2 },
  { type: 'command', request: 2, command: { verb: 'set-slots', slots: { slots: 2, gpus: [0, 1] } } },
];
const answers: ServerMessage[] = [
  { type: 'hello', version: 1, pid: 1 },
  { type: 'ready', seq: 1 },
  { type: 'ack', request: 1, ack: { ok: true, message: 'm' } },
  { type: 'bye', kind: 'leaving', reason: 'r' },
];
const lines = (messages: (ClientMessage | ServerMessage)[]) => Buffer.from(messages.map(encode).join(''));

const readJournal = (bytes: Buffer) => recover(emptyState(), parseJournal(bytes, 'journal'), 'journal');
const readText = (bytes: Buffer) => parseSweepFile(bytes.toString(), 'sweep.yaml');

describe(`${COUNT} mutants`, () => {
  it.each<{ what: string; whole: Buffer; read: (bytes: Buffer) => unknown; share?: number }>([
    { what: 'a journal of version 1', whole: version1, read: readJournal },
    { what: 'a journal with a snapshot', whole: version2(), read: readJournal },
    {
      what: 'what a client says',
      whole: lines(requests),
      read: (bytes) => new MessageReader(ClientMessage).push(bytes),
    },
    {
      what: 'what a supervisor says',
      whole: lines(answers),
      read: (bytes) => new MessageReader(ServerMessages).push(bytes),
    },
    { what: 'a sweep file', whole: readFileSync('sweeps/abcd.yaml'), read: readText, share: 0.1 },
  ])(
    'of $what are read or refused in words, and none takes for ever',
    ({ whole, read, share = 1 }) => {
      read(whole);
      for (let seed = 0; seed < COUNT * share; seed++) {
        const bytes = mutant(whole, numbers(seed));
        const begin = performance.now();
        try {
          read(bytes);
        } catch (error) {
          if (!(error instanceof UserError)) throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
          expect(error.fix).not.toBe('');
        }
        if (performance.now() - begin > PATIENCE_MS) throw new Error(`seed ${seed} took too long`);
      }
    },
    30_000 + COUNT * 20,
  );
});
