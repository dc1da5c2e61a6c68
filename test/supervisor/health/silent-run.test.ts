import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runFiles } from '../../../src/contract/files.js';
import { parseRunQuery } from '../../../src/query/parser.js';
import { runTest } from '../../../src/query/match.js';
import { Notify } from '../../../src/spec/planned-run.js';
import { run, Testbed, untilState, waitFor } from '../testbed.js';

it(
  'a run that falls silent is so in its row, in queries and in a notification, until it writes again',
  { tags: ['long'] },
  async () => {
    const bed = new Testbed({ MEMRL_HEALTH_EVERY_MS: '50', MEMRL_SILENCE_MS: '300' });
    try {
      const fleet = await bed.fleet();
      const go = bed.path('go');
      const quiet = bed.path('quiet');
      const script = `until [ -e ${quiet} ]; do echo on; sleep 0.05; done`;
      const wait = `until [ -e ${go} ]; do sleep 0.05; done`;
      const end = `while [ -e ${go} ]; do echo on; sleep 0.05; done`;
      const plan = bed.plan('s', [{ argv: ['sh', '-c', [script, wait, end].join('; ')] }]);
      const notify = Notify.parse({ command: ['sh', '-c', `echo "$0" >> ${bed.path('news')}`], on: ['unhealthy'] });
      await fleet.submit({ ...plan, notify }, { PATH: process.env['PATH']! }, { slots: 1, gpus: 'none' });
      await untilState(fleet, 's/run0', 'running');
      // What is usual is known after two pauses that were seen, and a busy machine looks less often than it is asked to.
      await waitFor(
        'forty lines',
        () => readFileSync(join(run(fleet, 's/run0').directory, runFiles.log), 'utf8').split('\n').length > 40,
      );
      writeFileSync(quiet, '');
      const isSilent = runTest(parseRunQuery('health:silent'), 0);
      await waitFor('silence', () => isSilent(run(fleet, 's/run0')));
      expect(run(fleet, 's/run0').healthReason).toMatch(/^no output and no metrics for \d+ s/);
      await waitFor('the news', () => bed.text('news') !== '');
      expect(bed.text('news')).toMatch(/^s: run0 silent — no output and no metrics for \d+ s.*\n$/);
      writeFileSync(go, '');
      await waitFor('the end of the silence', () => run(fleet, 's/run0').health === 'ok');
      expect(run(fleet, 's/run0').healthReason).toBeNull();
    } finally {
      await bed.close();
    }
  },
);
