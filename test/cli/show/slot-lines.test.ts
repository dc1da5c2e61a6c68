import { describe, expect, it } from 'vitest';
import { slotLines, slotsStatus } from '../../../src/cli/show/slot-lines.js';
import type { FleetStatus } from '../../../src/client/fleet.js';

const idle: FleetStatus['gpus'][number] = {
  ...{ index: 3, name: 'H100', uuid: 'GPU-3', runs: [], drained: false, memoryTotal: 81_920, memoryUsed: 1024 },
  ...{ utilization: 0, temperature: 31, power: 70, foreign: [], leasedBy: null, mps: false },
};
const status: FleetStatus = {
  settled: false,
  recalled: true,
  cpu: { slots: 4, busy: 1 },
  gpus: [
    { ...idle, runs: ['s/a', 's/b'], mps: true, utilization: 97.4, memoryUsed: null },
    { ...idle, index: 2000, drained: true, memoryTotal: null, power: null, temperature: null, utilization: null },
    { ...idle, index: 0, leasedBy: '/other/runs', foreign: [{ pid: 47, name: 'py\u001b[2Jthon', memory: 12 }] },
  ],
  problem: 'the disk is full',
};

describe('the slots', () => {
  it('are told with what stands in the way', () => {
    expect(slotLines(status, 100).join('\n')).toMatchInlineSnapshot(`
      "CPU   1 of 4 slots busy

      GPU  model  runs          memory   use   heat  power  remarks
      ───────────────────────────────────────────────────────────────────────────────────────────────────
        3  H100      2    ? / 80.0 GiB  97 %  31 °C   70 W  MPS
      1:0  H100      0                                      drained
        0  H100      0  1.0 / 80.0 GiB   0 %  31 °C   70 W  taken by /other/runs; used by python (pid 47)

      the disk is full"
    `);
  });

  it('without GPUs are one line and a word', () => {
    expect(slotLines({ ...status, gpus: [], problem: null }, 80)).toEqual([
      'CPU   1 of 4 slots busy',
      'GPU   none is used',
    ]);
  });

  it('as JSON name each GPU as --gpus does', () => {
    expect(slotsStatus(status)).toMatchObject({ gpus: [{ gpu: '3', name: 'H100' }, { gpu: '1:0' }, { gpu: '0' }] });
  });
});
