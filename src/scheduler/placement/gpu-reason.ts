import { gpuName } from '../../base/ids.js';
import type { Demand } from './demand.js';
import { freeMemory, grantedGpus, isLargeEnough, type Machine, type Obstacle, obstacleNow } from './gpu-room.js';
import type { GpuDevice } from '../state.js';

/** Why a run will never get its GPUs as things are granted. */
export function neverReason(machine: Machine, demand: Demand): string {
  const granted = grantedGpus(machine);
  if (granted.length < demand.gpus) return `needs ${gpuCount(demand.gpus)}, and ${granted.length} may be used`;
  const large = granted.filter((device) => isLargeEnough(device, demand));
  if (large.length >= demand.gpus) return waitReason(machine, demand);
  const most = Math.max(...granted.map(({ memory }) => memory ?? 0));
  const where = demand.gpus === 1 ? 'on a GPU' : `on ${demand.gpus} GPUs`;
  const there = large.length > 0 ? `${large.length} of that size may be used` : `the largest has ${thousands(most)}`;
  return `needs ${mebibytes(demand)} ${where}, and ${there}`;
}

/** Why a run does not get its GPUs now. */
export function waitReason(machine: Machine, demand: Demand): string {
  const granted = grantedGpus(machine);
  const met = granted.map((device) => ({ device, obstacle: obstacleNow(machine, device, demand) }));
  const stuck = (kind: Obstacle) => met.filter(({ obstacle }) => obstacle === kind).map(({ device }) => device);
  if (stuck('leased').length === granted.length) return leasedReason(granted);
  if (stuck('memory').length > 0) return memoryReason(machine, demand, stuck('memory'));
  const what = demand.gpus === 1 ? 'a GPU' : gpuCount(demand.gpus);
  const parts = [
    `${stuck('busy').length} of ${granted.length} busy`,
    ...count(stuck('drained'), 'drained'),
    ...count(stuck('gone'), 'gone'),
    ...count(stuck('foreign'), `used by ${names(stuck('foreign').flatMap(({ foreign }) => foreign))}`),
    ...count(stuck('leased'), `taken by runs in ${names(stuck('leased').map(({ leasedBy }) => leasedBy!))}`),
  ];
  return `waiting for ${what} (${parts.join(', ')})`;
}

function leasedReason(devices: readonly GpuDevice[]): string {
  const whose = names(devices.map(({ leasedBy }) => leasedBy!));
  const which = devices.map(({ index }) => gpuName(index)).join(', ');
  return devices.length === 1 ? `GPU ${which} belongs to runs in ${whose}` : `GPUs ${which} belong to runs in ${whose}`;
}

function memoryReason(machine: Machine, demand: Demand, devices: readonly GpuDevice[]): string {
  const most = Math.max(0, ...devices.map((device) => freeMemory(machine, device)!));
  const where = demand.gpus === 1 ? 'a GPU' : `${demand.gpus} GPUs`;
  return `waiting for ${mebibytes(demand)} on ${where} (most free: ${thousands(most)})`;
}

function mebibytes({ memory }: Demand): string {
  return `${thousands(memory!)} MiB`;
}

function gpuCount(gpus: number): string {
  return `${gpus} GPU${gpus === 1 ? '' : 's'}`;
}

function count(devices: readonly GpuDevice[], what: string): string[] {
  return devices.length === 0 ? [] : [`${devices.length} ${what}`];
}

/** Two names are enough for a row of a table. */
function names(all: readonly string[]): string {
  const [first, second, ...others] = new Set(all);
  const shown = [first, second].filter((name) => name !== undefined).join(', ');
  return others.length === 0 ? shown : `${shown} and ${others.length} more`;
}

function thousands(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}
