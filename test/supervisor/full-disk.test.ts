import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunId } from '../../src/base/ids.js';
import { hasProgram } from '../has-program.js';
import { Testbed, waitFor } from './testbed.js';

let bed: Testbed;
beforeEach(() => {
  bed = new Testbed();
});
afterEach(() => bed.close());

const canLimit = hasProgram('prlimit', 'what the supervisor does when its journal cannot grow');

describe('when the journal cannot grow', () => {
  it.skipIf(!canLimit)(
    'the supervisor says so, does nothing it could not remember, and goes on when it can',
    async () => {
      // A limit on the size of files acts like a full disk: first a part is taken, then nothing. (Blocks of 512 bytes.)
      await bed.spawnSupervisor('ulimit -S -f 40');
      const fleet = await waitFor('the supervisor', () => bed.attach());
      const runs = Array.from({ length: 160 }, (_, n) => ({
        name: `r${n}`,
        // In each plan the same, or one that has started would go on as one that has grown.
        parameters: { n },
        argv: ['sh', '-c', `echo x >> ${bed.path(`starts-${n % 8}`)}`],
      }));
      // In parts, so that each plan fits.
      for (let n = 0; n < runs.length; n += 20) {
        const ack = await fleet.submit(
          bed.plan('s', runs.slice(n, n + 20)),
          { PATH: process.env['PATH']! },
          { slots: 2 },
        );
        if (!ack.ok) break;
      }
      await waitFor('the problem', () => fleet.status.problem);
      expect(fleet.status.problem).toMatch(/^the journal cannot be written: EFBIG/);
      const refused = await fleet.submit(bed.plan('s', runs.slice(0, 20)), {}, { slots: 2 });
      expect(refused).toMatchObject({ ok: false, message: expect.stringContaining('EFBIG') as string });
      expect(await fleet.act('kill', [RunId.parse('s/nobody')])).toMatchObject({ ok: false });

      execFileSync('prlimit', ['--pid', String(bed.supervisorPid()), '--fsize=unlimited:unlimited']);
      await waitFor('the end of the problem', () => fleet.status.problem === null);
      expect(await fleet.submit(bed.plan('s', runs), { PATH: process.env['PATH']! }, { slots: 2 })).toMatchObject({
        ok: true,
      });
      await waitFor('the end', () => fleet.status.settled);
      expect([...fleet.runs.values()].map(({ state }) => state)).toEqual(Array(160).fill('done'));
      const starts = Array.from({ length: 8 }, (_, n) => bed.text(`starts-${n}`).length / 2);
      expect(starts).toEqual(Array(8).fill(20));
      // What was promised is what a later supervisor reads.
      await bed.killSupervisor();
      const later = await bed.fleet();
      expect([...later.runs.values()].map(({ state }) => state)).toEqual(Array(160).fill('done'));
    },
  );
});
