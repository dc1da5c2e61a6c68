import { gpuName } from '../../base/ids.js';
import type { FleetStatus } from '../../client/fleet.js';
import { displayText } from '../../text/display-text.js';
import { type Column, tableLines } from '../../text/table.js';
import type { Answers } from '../answers/schemas.js';

type Gpu = FleetStatus['gpus'][number];

/** The slots and their runs: a line for the CPU, and a table of the GPUs if there are any. */
export function slotLines({ cpu, gpus, problem }: FleetStatus, width: number): string[] {
  return [
    `CPU   ${cpu.busy} of ${cpu.slots} slots busy`,
    ...(gpus.length === 0 ? ['GPU   none is used'] : ['', ...gpuTable(gpus, width)]),
    ...(problem === null ? [] : ['', displayText(problem)]),
  ];
}

function gpuTable(gpus: readonly Gpu[], width: number): string[] {
  const left = (title: string, spare: number, cell: (gpu: Gpu) => string): Column => ({
    ...{ title, spare, align: 'left', cells: gpus.map(cell) },
  });
  const right = (title: string, spare: number, cell: (gpu: Gpu) => string): Column => ({
    ...left(title, spare, cell),
    align: 'right',
  });
  const columns = [
    right('GPU', 0, ({ index }) => gpuName(index)),
    left('model', 4, ({ name }) => displayText(name ?? '')),
    right('runs', 0, ({ runs }) => String(runs.length)),
    right('memory', 2, memoryText),
    right('use', 3, ({ utilization }) => (utilization === null ? '' : `${Math.round(utilization)} %`)),
    right('heat', 5, ({ temperature }) => (temperature === null ? '' : `${Math.round(temperature)} °C`)),
    right('power', 6, ({ power }) => (power === null ? '' : `${Math.round(power)} W`)),
    left('remarks', 1, remarks),
  ];
  return tableLines(
    columns.filter(({ cells, spare }) => spare === 0 || cells.some((cell) => cell !== '')),
    width,
  );
}

function memoryText({ memoryUsed, memoryTotal }: Gpu): string {
  const gib = (mib: number) => (mib / 1024).toFixed(1);
  if (memoryTotal === null) return '';
  return `${memoryUsed === null ? '?' : gib(memoryUsed)} / ${gib(memoryTotal)} GiB`;
}

function remarks({ drained, drainReason, leasedBy, foreign, mps }: Gpu): string {
  return [
    drained ? `drained${drainReason === undefined ? '' : `: ${drainReason}`}` : '',
    leasedBy === null ? '' : `taken by ${displayText(leasedBy)}`,
    ...foreign.map(({ pid, name }) => `used by ${displayText(name)} (pid ${pid})`),
    mps ? 'MPS' : '',
  ]
    .filter((part) => part !== '')
    .join('; ');
}

/** The slots in `slots --json` and `drain --json`. A GPU's `name` is the model, its `gpu` the name in `--gpus`. */
export function slotsStatus({ cpu, gpus }: Pick<FleetStatus, 'cpu' | 'gpus'>): Omit<Answers['slots'], 'problem'> {
  return { cpu, gpus: gpus.map((gpu) => ({ gpu: gpuName(gpu.index), ...gpu })) };
}
