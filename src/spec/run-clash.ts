import { Name } from '../base/ids.js';
import type { CompiledBlock } from './compiled-block.js';
import { complaintsError, type Complaint } from './complaint.js';
import type { NamedPoint } from './plan-run.js';
import { varyingNames } from './run-name.js';
import type { SweepFile } from './sweep-file.js';
import { valueText } from './value-text.js';

type GroupsFile = Extract<SweepFile, { kind: 'groups' }>;
export type NamedGroup = { readonly group: CompiledBlock; readonly points: readonly NamedPoint[] };
type Named = { readonly group: CompiledBlock; readonly point: NamedPoint };

/** @throws {UserError} When a name is not safe as a folder name, or two runs have one name; it shows the two points. */
export function refuseClashes(file: GroupsFile, groups: readonly NamedGroup[]): void {
  const taken = new Map<string, Named>();
  const complaints: Complaint[] = [];
  for (const { group, points } of groups) {
    for (const point of points) {
      const other = taken.get(point.name);
      const problem = other ? clash(other, { group, point }) : unsafe(point);
      taken.set(point.name, { group, point });
      if (problem === null) continue;
      const keys = group.name?.keys ?? group.block.keys;
      complaints.push({ place: file.placeOf(keys), keys, ...problem });
      // One example of each group is enough; the others are alike.
      break;
    }
  }
  if (complaints.length > 0) throw complaintsError(file.path, file.text, complaints);
}

function unsafe({ name, parameters }: NamedPoint): { problem: string; fix: string } | null {
  const read = Name.safeParse(name);
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
  if (first.group !== second.group) {
    const groups = `\`${first.group.block.group}\` and \`${second.group.block.group}\``;
    return { problem: `groups ${groups} both have a run \`${name}\`.`, fix: 'Begin `name` with the group.' };
  }
  if (differing.length === 0) {
    const values = valuesText(second.point.parameters, varyingFirst(second));
    const problem = `the point ${values} is there twice, as \`${name}\`.`;
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
