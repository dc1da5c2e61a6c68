import { readdirSync, readFileSync } from 'node:fs';

const ticksPerSecond = 100;

/** User and system time of a process; NaN where there is no /proc. */
export function cpuSeconds(pid: number): number {
  const fields = procFile(pid, 'stat').split(') ').at(-1)!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** User and system time of the children that this process has waited for, in steps of 10 ms; NaN where there is no /proc. */
export function endedChildrenSeconds(): number {
  const fields = procFile(process.pid, 'stat').split(') ').at(-1)!.split(' ');
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
}

/** What all threads of a process have computed, to the nanosecond; NaN where there is no /proc. */
export function threadSeconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, id) => sum + Number(procFile(pid, `task/${id}/schedstat`).split(' ')[0]) / 1e9, 0);
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
