import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseApps, parseInstances, parseRows, withInstances } from '../../src/gpu/nvidia-smi.js';
import { parseCards, parseProcesses } from '../../src/gpu/read-gpus.js';

const row = '0, GPU-a, 00000000:01:00.0, 81559, 3, 0, 35, 70.1, Default, Disabled, NVIDIA H100';
const divided = '1, GPU-b, 00000000:02:00.0, 81559, 3, [N/A], 35, 70.1, Default, Enabled, NVIDIA H100';

describe('the answer of nvidia-smi', () => {
  it.each([
    { csv: '', indexes: [] },
    { csv: 'No devices were found\n', indexes: [] },
    { csv: `${divided}\n${row}\n`, indexes: [0, 1] },
    { csv: `${row}\r\nWARNING: infoROM is corrupted at gpu 0000:01:00.0\r\n`, indexes: [0] },
  ])('lists the GPUs $indexes in $csv', ({ csv, indexes }) => {
    expect(parseRows(csv).map(({ index }) => index)).toEqual(indexes);
  });

  it.each(['ERR!', `${row}\nERR!`, '0, GPU-a, 1', row.replace('GPU-a', '[Unknown Error]'), row.replace('0,', 'x,')])(
    'is not taken for a list of GPUs when it is %j',
    (csv) => expect(() => parseRows(csv)).toThrow('only in part'),
  );

  it('keeps a comma in the name, and knows every compute mode', () => {
    expect(parseRows(row.replace('NVIDIA H100', 'Odd, name'))).toMatchObject([{ name: 'Odd, name' }]);
    const modeOf = (mode: string) => parseRows(row.replace('Default', mode))[0]!.computeMode;
    expect(['Exclusive_Process', 'Exclusive_Thread', 'Prohibited', '[N/A]'].map(modeOf)).toEqual([
      ...['exclusive', 'exclusive', 'prohibited', null],
    ]);
  });

  it.each(['[N/A]', '[Not Supported]', '[Unknown Error]', 'ERR!', '[GPU requires reset]'])('may hold %s', (cell) => {
    expect(parseRows(row.replace('81559', cell).replace('70.1', cell))).toMatchObject([
      { memoryTotal: null, power: null, memoryUsed: 3 },
    ]);
  });

  it('about processes is read as far as it says anything', () => {
    const csv =
      '[Not Supported]\nNo running processes found\nGPU-a, 7, 12, /bin/x\nGPU-a, [N/A], 1, x\nGPU-a, 0, 1, x\n';
    expect(parseApps(`${csv}GPU-b, 8, [N/A], -\n`)).toEqual([
      { uuid: 'GPU-a', pid: 7, memory: 12, name: 'x' },
      { uuid: 'GPU-b', pid: 8, memory: null, name: null },
    ]);
  });
});

describe('a divided GPU', () => {
  const list =
    'GPU 1: NVIDIA H100 (UUID: GPU-b)\n  MIG 3g.40gb     Device  0: (UUID: MIG-x)\n  MIG 1g.10gb     Device  2: (UUID: MIG-y)\n';
  const rows = parseRows(`${row}\n${divided}`);
  const place = (report: string, apps: string) => withInstances(rows, parseInstances(list, report), parseApps(apps));

  it('is replaced by its instances, whatever the report says', () => {
    expect(place('', '').gpus).toMatchObject([
      { index: 0 },
      { index: 2000, uuid: 'MIG-x', name: 'NVIDIA H100 MIG 3g.40gb', memoryTotal: null },
      { index: 2002, uuid: 'MIG-y' },
    ]);
  });

  it('has a process on the instance that is named, and else in the way on all', () => {
    const apps = 'MIG-y, 5, 100, a\nGPU-b, 6, 100, b\nGPU-a, 7, 100, c\nGPU-other, 8, 1, d';
    expect(place('<gpu><uuid>GPU-b</uuid></gpu>', apps).processes).toEqual([
      { gpu: 2002, pid: 5, memory: 100, name: 'a' },
      { gpu: 2000, pid: 6, memory: null, name: 'b' },
      { gpu: 2002, pid: 6, memory: null, name: 'b' },
      { gpu: 0, pid: 7, memory: 100, name: 'c' },
    ]);
  });

  it('without instances is no GPU at all', () => {
    expect(withInstances(rows, [], []).gpus).toMatchObject([{ index: 0 }]);
  });
});

describe('the answer of rocm-smi', () => {
  it.each(['', 'null', '[]', '{"card0": 5}', 'ERROR', '{"card0": {"a": []}'])('is refused when it is %j', (json) => {
    expect(parseCards(json)).toBeNull();
  });

  it('may lack anything but the number of the card', () => {
    expect(parseCards('{"card1": {"PCI Bus": "0000:01:00.0", "Unique ID": "N/A"}, "card0": {}}')).toMatchObject([
      { index: 0, uuid: 'AMD-0', name: 'AMD GPU', memoryTotal: null },
      { index: 1, uuid: 'AMD-0000:01:00.0', memoryUsed: null },
    ]);
  });

  it('about processes does without names and without GPUs', () => {
    const text = 'PID 5 is using 1 DRM device(s):\n3 \nPID 6 is using 0 DRM device(s)\n';
    expect(parseProcesses('', text)).toEqual([{ gpu: 3, pid: 5, memory: null, name: null }]);
    expect(parseProcesses('{"system": {"PID5": "UNKNOWN, 0, UNKNOWN, 0, 0"}}', text)).toEqual([
      { gpu: 3, pid: 5, memory: null, name: null },
    ]);
  });
});

describe('any answer', () => {
  const bits = fc.constantFrom(
    row,
    divided,
    '\n',
    ', ',
    'GPU-a',
    'MIG-x',
    '<gpu>',
    '</gpu>',
    '<uuid>',
    'PID 5 is using 1',
    '{"card0"',
    '[N/A]',
    '9',
  );
  const anything = fc.oneof(
    fc.string(),
    fc.array(bits).map((parts) => parts.join('')),
  );

  it('gives GPUs or a reason, and never anything else', () => {
    fc.assert(
      fc.property(anything, anything, (text, other) => {
        expect(parseApps(text).every(({ pid }) => Number.isSafeInteger(pid) && pid > 0)).toBe(true);
        parseInstances(text, other);
        parseCards(text);
        parseProcesses(text, other);
        try {
          parseRows(text);
        } catch (error) {
          expect((error as Error).message).toMatch(/^nvidia-smi answered only in part/);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
