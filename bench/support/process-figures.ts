import { readFileSync } from 'node:fs';

const ticksPerSecond = 100;

/** User and system time of a process; NaN where there is no /proc. */
export function cpuSeconds(pid: number): number {
  const fields = procFile(pid, 'stat').split(') ').at(-1)!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Resident memory of a process; NaN where there is no /proc. */
export function residentMegabytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(procFile(pid, 'status'))?.[1] ?? NaN) / 1024;
}

function procFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
