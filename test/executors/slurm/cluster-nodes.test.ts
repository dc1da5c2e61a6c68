import { describe, expect, it } from 'vitest';
import { clusterNode, indicesIn } from '../../../src/executors/slurm/cluster-nodes.js';

describe('a node of a cluster, as sinfo tells of it', () => {
  it.each<{ line: string; gpus: [number, number | null]; state: string; takesRuns: boolean }>([
    { line: ' n1|gpu:4|gpu:2|mixed|none', gpus: [4, 2], state: 'partly in use', takesRuns: true },
    {
      line: 'n1|gpu:a100:4(S:0-1)|gpu:a100:3(IDX:0,2-3)|mixed|none',
      gpus: [4, 3],
      state: 'partly in use',
      takesRuns: true,
    },
    {
      line: 'n1|gpu:a100:2(S:0),gpu:v100:4(S:1),shard:8|gpu:a100:0(IDX:N/A),gpu:v100:1(IDX:2)|planned|none',
      ...{ gpus: [6, 1], state: 'reserved for a job that waits', takesRuns: true },
    },
    { line: 'n1|(null)|(null)|idle|none', gpus: [0, 0], state: 'free', takesRuns: true },
    { line: 'n1|gpu:4|(null)|allocated|none', gpus: [4, null], state: 'in use', takesRuns: true },
    { line: 'n1|gpu:4|gpu:0|idle*|none', gpus: [4, 0], state: 'free; it does not answer', takesRuns: false },
    {
      line: 'n1|gpu:4|gpu:0|idle~|none',
      gpus: [4, 0],
      state: 'free; powered off until a job needs it',
      takesRuns: true,
    },
    {
      line: 'n1|gpu:4|gpu:0|drained|bad fan | b',
      gpus: [4, 0],
      state: 'drained: no jobs start; bad fan | b',
      takesRuns: false,
    },
    { line: 'n1|gpu:4|gpu:0|power_down|none', gpus: [4, 0], state: 'power down', takesRuns: false },
  ])('$line', ({ line, gpus: [gpus, gpusInUse], state, takesRuns }) => {
    expect(clusterNode(line)).toEqual({ name: 'n1', state, takesRuns, gpus, gpusInUse });
  });

  it.each(['', '(null)', 'slurm_load_partitions: Unable to contact'])('is not in the line %j', (line) => {
    expect(clusterNode(line)).toBe(null);
  });
});

it.each([
  ['', []],
  ['0', [0]],
  ['0,2', [0, 2]],
  ['0-2,7', [0, 1, 2, 7]],
  ['GPU-1,N/A', []],
])('the GPUs %j of a job', (text, indices) => {
  expect(indicesIn(text)).toEqual(indices);
});
