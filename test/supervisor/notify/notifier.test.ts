import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { redactor } from '../../../src/text/redaction.js';
import { identityOf } from '../../../src/processes/process-identity.js';
import { Notify } from '../../../src/spec/planned-run.js';
import type { Message, Notification } from '../../../src/supervisor/notify/notifier.js';
import { messageOf } from '../../../src/supervisor/notify/notifier.js';
import { Notifier, type NotifierOptions } from '../../../src/supervisor/notify/notifier.js';
import { waitFor } from '../testbed.js';
import { removeFolder } from '../../remove-folder.js';

const environment = { PATH: process.env['PATH']!, MY_TOKEN: 'abcdefgh-12345678' };
let folder: string;
let said: string[];
const notifiers: Notifier[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'notify-'));
  said = [];
});

afterEach(async () => {
  await Promise.all(notifiers.splice(0).map((each) => each.close(0)));
  removeFolder(folder);
});

type Wish = Parameters<typeof Notify.parse>[0];

function notifier(wish: Wish, options: Partial<NotifierOptions> = {}): Notifier {
  const notify = wish === null ? null : Notify.parse(wish);
  const made = new Notifier({
    notify: () => notify,
    environment: () => environment,
    redact: () => redactor(environment),
    log: (line) => said.push(line),
    backoffMs: [1, 1],
    ...options,
  });
  notifiers.push(made);
  return made;
}

function failed(run: string, words = 'exit code 3'): Notification {
  return { kind: 'failed', sweep: 'abcd', run, group: 'A', words, directory: `/runs/abcd/${run}` };
}

const finished: Notification = {
  kind: 'finished',
  sweep: 'abcd',
  words: '',
  counts: { done: 46, failed: 2, killed: 0 },
};

describe('the words of a message', () => {
  const message = (...news: Notification[]) => messageOf(news as [Notification, ...Notification[]], 'host', 0).text;
  const held: Notification = { kind: 'held', sweep: 'abcd', group: 'A', words: '3 runs in a row failed within 10 s' };

  it.each<{ news: Notification[]; text: string }>([
    { news: [failed('s0')], text: 'abcd: s0 failed — exit code 3' },
    { news: [{ ...failed('s0'), words: '' }], text: 'abcd: s0 failed' },
    { news: [finished], text: 'abcd: finished — 46 done, 2 failed' },
    { news: [held], text: 'abcd: group A held — 3 runs in a row failed within 10 s' },
    { news: [{ ...failed('s0', ''), kind: 'nan' }], text: 'abcd: s0 NaN in the metrics' },
    { news: [failed('s0'), failed('s1')], text: 'abcd: 2 runs failed: s0, s1 — all: exit code 3' },
    { news: [failed('s0', 'a'), failed('s1', 'b')], text: 'abcd: 2 runs failed: s0, s1' },
    { news: [held, { ...held, group: 'B' }], text: `abcd: 2 groups held: A, B — all: ${held.words}` },
    {
      news: Array.from({ length: 12 }, (_, index) => failed(`s${index}`)),
      text: 'abcd: 12 runs failed: s0, s1, s2, s3, s4, and 7 more — all: exit code 3',
    },
  ])('$text', ({ news, text }) => expect(message(...news)).toBe(text));
});

describe('a command', () => {
  /** Adds its last argument and its stdin to a file. */
  const script = () => ['sh', '-c', 'printf "%s|" "$1" >> "$0"; cat >> "$0"', join(folder, 'told')];
  const told = () => (existsSync(join(folder, 'told')) ? readFileSync(join(folder, 'told'), 'utf8') : '');

  it('gets the words as its last argument, and all there is to know on its stdin', async () => {
    const { told: tell, close } = bound(notifier({ command: script() }));
    tell(failed('s0'));
    await close();
    const [words, json] = told().split('|') as [string, string];
    expect(words).toBe('abcd: s0 failed — exit code 3');
    expect(JSON.parse(json)).toMatchObject({
      ...{ text: words, kind: 'failed', sweep: 'abcd', group: 'A', counts: null },
      runs: [{ name: 's0', group: 'A', words: 'exit code 3', directory: '/runs/abcd/s0' }],
    });
  });

  it('is not started by a shell, so words that look like one do nothing', async () => {
    const { told: tell, close } = bound(notifier({ command: script() }));
    tell(failed('s0', `$(touch ${folder}/hacked) ; touch ${folder}/hacked`));
    await close();
    expect(told()).toContain('$(touch');
    expect(existsSync(join(folder, 'hacked'))).toBe(false);
  });

  it('has the environment of the submit, and its output is in the log without secrets', async () => {
    const { told: tell, close } = bound(notifier({ command: ['sh', '-c', 'echo "it is $MY_TOKEN"; echo oh >&2'] }));
    tell(finished);
    await close();
    expect(said.sort()).toEqual(['notify command: it is ***', 'notify command: oh']);
  });

  it('hears no secret', async () => {
    const { told: tell, close } = bound(notifier({ command: script() }));
    tell(failed('s0', `bad key ${environment.MY_TOKEN}`));
    await close();
    expect(told()).toContain('bad key ***');
    expect(told()).not.toContain(environment.MY_TOKEN);
  });

  it.each([
    { what: 'is missing', command: ['/nonexistent/x'], problem: 'command not found' },
    { what: 'fails', command: ['sh', '-c', 'exit 7'], problem: 'ended with code 7' },
    { what: 'cannot be', command: ['a\0b'], problem: 'null bytes' },
    { what: 'does not read', command: ['true'], problem: null },
  ])('that $what is said once', async ({ command, problem }) => {
    const { told: tell, close } = bound(notifier({ command, on: ['failed', 'finished'] }));
    tell(failed('s0'));
    tell(finished);
    await close();
    expect(said.length).toBe(problem === null ? 0 : 1);
    if (problem !== null) expect(said[0]).toContain(problem);
  });

  it('that hangs is ended with the supervisor, and so is what it started', async () => {
    const pid = join(folder, 'pid');
    const made = notifier({ command: ['sh', '-c', 'sleep 600 & echo $! > "$0.new"; mv "$0.new" "$0"; wait', pid] });
    made.notify(finished);
    await waitFor('the command', () => existsSync(pid));
    await made.close(0);
    await waitFor('its child to be gone', () => identityOf(Number(readFileSync(pid, 'utf8'))) === null);
    expect(said).toEqual([expect.stringContaining('the supervisor ended first') as string]);
  });

  it('that worked again after failures is said to', async () => {
    const gate = join(folder, 'gate');
    const made = notifier({ command: ['sh', '-c', 'test -e "$0"', gate], on: ['failed', 'finished', 'held'] });
    made.notify(failed('s0'));
    await waitFor('the failure', () => said.length === 1);
    writeFileSync(gate, '');
    made.notify(finished);
    await made.close();
    expect(said[1]).toBe('notify: command sh works again');
  });
});

describe('news', () => {
  const script = () => ['sh', '-c', 'printf "%s\\n" "$1" >> "$0"', join(folder, 'told')];
  const lines = () => readFileSync(join(folder, 'told'), 'utf8').trimEnd().split('\n');

  it('that nobody asked for goes nowhere', async () => {
    const { told: tell, close } = bound(notifier({ command: script(), on: ['finished'] }));
    tell(failed('s0'));
    tell(finished);
    await close();
    expect(lines()).toEqual(['abcd: finished — 46 done, 2 failed']);
  });

  it('of a sweep without a wish go nowhere', async () => {
    const { told: tell, close } = bound(notifier(null));
    tell(finished);
    await close();
    expect(said).toEqual([]);
  });

  it.each<{ on: Notify['on']; kinds: string[] }>([
    { on: undefined, kinds: ['failed', 'silent', 'nan'] },
    { on: ['unhealthy'], kinds: ['silent', 'nan'] },
    { on: ['silent', 'done'], kinds: ['done', 'silent'] },
    { on: [], kinds: [] },
  ])('of what is wanted are sent: on $on', async ({ on, kinds }) => {
    const made = notifier({ command: script(), ...(on === undefined ? {} : { on }) }, { gatherMs: 0 });
    for (const kind of ['failed', 'done', 'silent', 'nan'] as const) made.notify({ ...failed('s0', ''), kind });
    await made.close();
    const sent = kinds.length === 0 ? [] : lines().map((line) => line.split(' ')[2]!.toLowerCase());
    expect(sent).toEqual(kinds);
  });

  it('that come as a storm are summed up: the first at once, the others together, each kind and sweep by itself', async () => {
    const made = notifier({ command: script() }, { gatherMs: 60_000 });
    for (let run = 0; run < 500; run += 1) made.notify(failed(`s${run}`));
    made.notify({ ...failed('s0'), sweep: 'other' });
    made.notify({ ...failed('s7'), kind: 'silent', words: 'no output for 3 min' });
    await made.close();
    expect(lines().sort()).toEqual([
      'abcd: 499 runs failed: s1, s2, s3, s4, s5, and 494 more — all: exit code 3',
      'abcd: s0 failed — exit code 3',
      'abcd: s7 silent — no output for 3 min',
      'other: s0 failed — exit code 3',
    ]);
  });

  it('are sent at the end of the time in which they are gathered, while more are gathered', async () => {
    const made = notifier({ command: script() }, { gatherMs: 20 });
    made.notify(failed('s0'));
    made.notify(failed('s1'));
    await waitFor('the second message', () => existsSync(join(folder, 'told')) && lines().length === 2);
    made.notify(failed('s2'));
    await waitFor('the third message', () => lines().length === 3);
    expect(lines()[2]).toBe('abcd: s2 failed — exit code 3');
  });

  it('keep their order', async () => {
    const made = notifier(
      { command: ['sh', '-c', 'sleep 0.0$((${#1} % 7)); printf "%s\\n" "$1" >> "$0"', join(folder, 'told')] },
      { gatherMs: 0 },
    );
    const kinds = ['failed', 'silent', 'nan', 'held'] as const;
    for (const kind of kinds) made.notify({ ...failed('s0', ''), kind });
    await made.close();
    expect(lines().map((line) => line.split(' ')[2])).toEqual(['failed', 'silent', 'NaN', 'held']);
  });

  it('after the end go nowhere, and closing twice is closing once', async () => {
    const made = notifier({ command: script() });
    await made.close();
    made.notify(finished);
    await made.close();
    expect(existsSync(join(folder, 'told'))).toBe(false);
  });
});

describe('a webhook', () => {
  let server: Server;
  let address: string;
  let got: { message: Message; type: string | undefined }[];
  let answers: number[];

  beforeEach(async () => {
    got = [];
    answers = [];
    server = createServer((request, response) => {
      void bodyOf(request).then((body) => {
        got.push({ message: JSON.parse(body) as Message, type: request.headers['content-type'] });
        response.statusCode = answers.shift() ?? 200;
        response.end('ok');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/very-secret-part`;
  });

  afterEach(() => new Promise((resolve) => server.close(resolve)));

  it('gets the message as JSON', async () => {
    const made = notifier({ webhook: address });
    made.notify(finished);
    await made.close();
    expect(got).toMatchObject([
      { type: 'application/json', message: { text: 'abcd: finished — 46 done, 2 failed', counts: { done: 46 } } },
    ]);
    expect(said).toEqual([]);
  });

  it.each([
    { answers: [503, 200], tries: 2, log: [] },
    { answers: [429, 500, 200], tries: 3, log: [] },
    { answers: [500, 502, 503, 200], tries: 3, log: ['it answered 503 Service Unavailable'] },
    { answers: [404, 200], tries: 1, log: ['it answered 404 Not Found'] },
  ])('that answers $answers is tried $tries times', async ({ answers: given, tries, log }) => {
    answers = given;
    const made = notifier({ webhook: address });
    made.notify(finished);
    await made.close();
    expect(got).toHaveLength(tries);
    expect(said).toHaveLength(log.length);
    if (log.length > 0) expect(said[0]).toContain(log[0]);
  });

  it('that is not there is said once, without the secret part of its address', async () => {
    await new Promise((resolve) => server.close(resolve));
    const made = notifier({ webhook: address });
    made.notify(failed('s0'));
    made.notify(finished);
    await made.close();
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('webhook 127.0.0.1:');
    expect(said[0]).not.toContain('very-secret-part');
  });

  it('may only be one of the web', async () => {
    const made = notifier({ webhook: 'file:///etc/passwd' });
    made.notify(finished);
    await made.close();
    expect(said).toEqual([expect.stringContaining('neither http:// nor https://') as string]);
  });

  it('and a command are both told', async () => {
    const made = notifier({ webhook: address, command: ['sh', '-c', 'echo "$0"'] });
    made.notify(finished);
    await made.close();
    expect(got).toHaveLength(1);
    expect(said).toEqual(['notify command: abcd: finished — 46 done, 2 failed']);
  });
});

function bound(made: Notifier) {
  return { told: (news: Notification) => made.notify(news), close: () => made.close() };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
