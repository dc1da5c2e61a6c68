import { cpus, loadavg } from 'node:os';

/** A line to print when other programs held the processors while something was measured. */
export function busyLines(): string[] {
  const load = loadavg()[0]!;
  if (load <= cpus().length) return [];
  return [`the machine was busy with other things: load ${load.toFixed(1)} on ${cpus().length} cores`];
}
