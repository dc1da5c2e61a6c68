import { Name } from '../../base/ids.js';
import type { CompiledBlock } from './compiled-block.js';
import { diagnosticsError, type LocatedDiagnostic } from '../file/diagnostic.js';
import type { NamedPoint } from './plan-run.js';
import { varyingNames } from './run-name.js';
import type { SweepFile } from '../file/sweep-file.js';
import { valueText } from './value-text.js';

type GroupsFile = Extract<SweepFile, { kind: 'groups' }>;
export type NamedGroup = { readonly group: CompiledBlock; readonly points: readonly NamedPoint[] };
type Named = { readonly group: CompiledBlock; readonly point: NamedPoint };

/** Names of the sweep's own files, which stand beside the directories of its runs. Lower case. */
const reserved = /^(sweep(-.*)?\.yaml(\.new)?|code|captured\.json|origin\.txt(\.new)?)$/;

/** Whether a run of this name would be in the way of the sweep's own files, on any file system. */
export function isReservedName(name: string): boolean {
  return reserved.test(name.toLowerCase());
}

/** @throws {UserError} When a name is not safe as a folder name, or two runs have one name; it shows the two points. */
export function refuseClashes(file: GroupsFile, groups: readonly NamedGroup[]): void {
  const taken = new Map<string, Named>();
  const complaints: LocatedDiagnostic[] = [];
  for (const { group, points } of groups) {
    for (const point of points) {
      const other = taken.get(point.name.toLowerCase());
      const problem = other ? clash(other, { group, point }) : unsafe(point);
      taken.set(point.name.toLowerCase(), { group, point });
      if (problem === null) continue;
      const keys = group.name?.keys ?? group.block.keys;
      complaints.push({ place: file.placeOf(keys), keys, ...problem });
      // One example of each group is enough; the others are alike.
      break;
    }
  }
  if (complaints.length > 0) throw diagnosticsError(file.path, file.text, complaints);
}

function unsafe({ name, parameters }: NamedPoint): { problem: string; fix: string } | null {
  if (isReservedName(name)) {
    const problem = `no run can be called \`${name}\`: the sweep's own files are beside the directories of its runs.`;
    return { problem, fix: 'Change `name`, for example by beginning it with the group.' };
  }
  const read = Name.safeParse(name);
  if (read.success && name.endsWith('.')) {
    const problem = `the name \`${name}\` ends with a dot, which some file systems drop.`;
    return { problem, fix: 'Change the template.' };
  }
  if (read.success) return null;
  const values = valuesText(parameters, Object.keys(parameters).slice(0, 4));
  return {
    problem: `the name ${JSON.stringify(name)} (${values}) is not safe as a folder name.`,
    fix: `Change the template: ${read.error.issues[0]!.message}.`,
  };
}

function clash(first: Named, second: Named): { problem: string; fix: string } {
  const { name } = second.point;
  const differing = varyingNames([first.point, second.point]);
  if (first.point.name !== name) {
    const both = `\`${first.point.name}\` and \`${name}\``;
    const problem = `${both} differ only in small and capital letters, which some file systems take for one.`;
    return { problem, fix: 'Let `name` differ in something else.' };
  }
  if (first.group !== second.group) {
    const groups = `\`${first.group.block.group}\` and \`${second.group.block.group}\``;
    return { problem: `groups ${groups} both have a run \`${name}\`.`, fix: 'Begin `name` with the group.' };
  }
  if (differing.length === 0) {
    const values = valuesText(second.point.parameters, varyingFirst(second));
    const problem = `the point ${values} exists twice, as \`${name}\`.`;
    return { problem, fix: 'Remove the repeated value or case.' };
  }
  const one = valuesText(first.point.parameters, differing);
  const two = valuesText(second.point.parameters, differing);
  return {
    problem: `two runs are called \`${name}\`: one with ${one}, one with ${two}.`,
    fix: `Put ${differing.map((parameter) => `{${parameter}}`).join(' or ')} into \`name\`.`,
  };
}

function varyingFirst({ group, point }: Named): string[] {
  const axes = group.axes.filter(({ values }) => values.length > 1).map(({ name }) => name);
  return (axes.length > 0 ? axes : Object.keys(point.parameters)).slice(0, 6);
}

function valuesText(parameters: NamedPoint['parameters'], names: readonly string[]): string {
  return names
    .map((name) => (Object.hasOwn(parameters, name) ? `${name}=${valueText(parameters[name]!)}` : `no ${name}`))
    .join(', ');
}
