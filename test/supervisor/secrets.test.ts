import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Notify } from '../../src/spec/planned-run.js';
import { run, Testbed, untilState, waitFor } from './testbed.js';

const secret = 'correct-horse-battery-staple';
const environment = { PATH: process.env['PATH']!, HOME: process.env['HOME']!, WANDB_API_KEY: secret };
let bed: Testbed;

beforeEach(() => {
  bed = new Testbed();
});

afterEach(() => bed.close());

/** All files below the runs directory that hold the secret. */
function exposed(): string[] {
  const files = readdirSync(bed.runs, { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => statSync(join(bed.runs, name)).isFile())
    .filter((name) => bed.text(name).includes(secret));
}

describe('a secret of the environment', () => {
  it('reaches the run, and nobody else: not clients, journal, log, run.json, nor who is notified', async () => {
    const fleet = await bed.fleet();
    const told = bed.path('told');
    const argv: [string, ...string[]] = ['sh', '-c', 'echo "ValueError: bad key $1" >&2; exit 3', 'sh', secret];
    const plan = {
      ...bed.plan('s', [{ argv, parameters: { n: 1, said: `with ${secret}`, hf_token: 'looks-like-nothing' } }]),
      notify: Notify.parse({ command: ['sh', '-c', 'cat >> "$0"; echo "$1" >> "$0"', told] }),
    };
    await fleet.submit(plan, environment, {});
    await untilState(fleet, 's/run0', 'failed');
    expect(bed.text('s/run0/output.log')).toContain(secret);
    expect(run(fleet, 's/run0')).toMatchObject({
      reason: 'ValueError: bad key ***',
      argv: [...argv.slice(0, -1), '***'],
      parameters: { n: 1, said: 'with ***', hf_token: '***' },
    });
    await waitFor('the notification', () => bed.text('told').includes('finished'));
    await waitFor('the end in run.json', () => bed.text('s/run0/run.json').includes('bad key ***'));
    expect(JSON.stringify([...fleet.runs.values()])).not.toContain(secret);
    expect(JSON.stringify([...fleet.runs.values()])).not.toContain('looks-like-nothing');
    expect(bed.text('s/run0/run.json')).not.toContain('looks-like-nothing');
    // What the run itself wrote is its own; the others are what the supervisor starts it from, for the owner alone.
    const others = exposed().filter((name) => name !== 's/run0/output.log');
    for (const name of others) {
      expect(name).toMatch(/^\.supervisor\/(environments|plans)\//);
      expect(statSync(bed.path(name)).mode & 0o077, name).toBe(0);
    }
    const { environment: kept } = JSON.parse(bed.text('s/run0/run.json')) as { environment: string };
    expect(JSON.parse(readFileSync(bed.path('.supervisor', kept), 'utf8'))).toEqual(environment);
  });
});
