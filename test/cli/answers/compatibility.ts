/** A part of a JSON Schema, as zod writes it. */
export type Schema = { readonly [keyword: string]: unknown };

/**
 * What a reader of the previous answer would miss or not expect in the present one, a line for each; empty: nothing, or the version was
 * raised. Whatever the present schema allows must be allowed by the previous one, but for fields that it does not know.
 */
export function breaks(previous: Schema, present: Schema): string[] {
  const [before, now] = [versionOf(previous), versionOf(present)];
  if (now > before) return [];
  if (now < before) return [`version: ${before} has become ${now}`];
  return new Comparison(previous, present).of(previous, present, '');
}

function versionOf(schema: Schema): number {
  const { properties = {}, items } = schema as { properties?: Record<string, Schema>; items?: Schema };
  return items === undefined ? Number(properties['version']?.['const']) : versionOf(items);
}

class Comparison {
  readonly #previous: Schema;
  readonly #present: Schema;
  /** Pairs of references that are being compared: a schema that holds itself would never end. */
  readonly #open = new Set<string>();

  constructor(previous: Schema, present: Schema) {
    [this.#previous, this.#present] = [previous, present];
  }

  of(previous: Schema, present: Schema, at: string): string[] {
    const pair = `${String(previous['$ref'])} ${String(present['$ref'])}`;
    if (pair.includes('#')) {
      if (this.#open.has(pair)) return [];
      this.#open.add(pair);
    }
    const kinds = kindsOf(resolved(previous, this.#previous));
    return kindsOf(resolved(present, this.#present)).flatMap((kind) => this.#kind(kinds, kind, at));
  }

  /** One kind of value must be allowed by one of the previous kinds; of several that are like it, the nearest tells why it is not. */
  #kind(previous: readonly Schema[], present: Schema, at: string): string[] {
    if (previous.some(isAnything)) return [];
    if (isAnything(present)) return [`${at}: may be anything`];
    const alike = previous.filter((kind) => isOfType(kind, present));
    if (alike.length === 0) return [`${at}: may be of type ${typeOf(present)}`];
    return alike.map((kind) => this.#sameType(kind, present, at)).sort((a, b) => a.length - b.length)[0]!;
  }

  #sameType(previous: Schema, present: Schema, at: string): string[] {
    return [
      ...wordsBreak(previous, present, at),
      ...rangeBreaks(previous, present, at),
      ...this.#fields(previous, present, at),
      ...this.#entries(previous, present, at),
    ];
  }

  #fields(previous: Schema, present: Schema, at: string): string[] {
    const [before, now] = [fieldsOf(previous), fieldsOf(present)];
    return [
      ...Object.entries(before.fields).flatMap(([name, field]) => {
        const other = now.fields[name];
        if (other === undefined) return [`${at}.${name}: is gone`];
        const isMissing = before.required.has(name) && !now.required.has(name);
        return [...(isMissing ? [`${at}.${name}: may be absent`] : []), ...this.of(field, other, `${at}.${name}`)];
      }),
      ...this.#anyField(before.others, now, at),
      ...this.#part('propertyNames', previous, present, at),
    ];
  }

  /** Of a map from any name to values of one kind. */
  #anyField(before: Schema | undefined, now: Fields, at: string): string[] {
    if (before === undefined) return now.others === undefined ? [] : [`${at}: is a map now`];
    const values = [...Object.values(now.fields), ...(now.others === undefined ? [] : [now.others])];
    return values.flatMap((value) => this.of(before, value, `${at}.*`));
  }

  #entries(previous: Schema, present: Schema, at: string): string[] {
    const [before, now] = [previous['prefixItems'], present['prefixItems']] as (readonly Schema[] | undefined)[];
    if (before === undefined && now === undefined) return this.#part('items', previous, present, at);
    if (before?.length !== now?.length) return [`${at}: has another length`];
    return before!.flatMap((entry, index) => this.of(entry, now![index]!, `${at}[${index}]`));
  }

  #part(keyword: 'items' | 'propertyNames', previous: Schema, present: Schema, at: string): string[] {
    const [before, now] = [previous[keyword], present[keyword]] as (Schema | undefined)[];
    if (before === undefined || (now === undefined && keyword === 'propertyNames')) return [];
    return this.of(before, now ?? {}, keyword === 'items' ? `${at}[]` : `${at} (names)`);
  }
}

type Fields = {
  readonly fields: Readonly<Record<string, Schema>>;
  readonly required: ReadonlySet<string>;
  readonly others: Schema | undefined;
};

function fieldsOf({ properties = {}, required = [], additionalProperties }: Schema): Fields {
  const others = typeof additionalProperties === 'object' ? (additionalProperties as Schema) : undefined;
  return { fields: properties as Fields['fields'], required: new Set(required as string[]), others };
}

function resolved(schema: Schema, root: Schema): Schema {
  const reference = schema['$ref'] as string | undefined;
  if (reference === undefined) return schema;
  return (root['$defs'] as Record<string, Schema>)[reference.replace('#/$defs/', '')]!;
}

/** The kinds of value that are allowed, each of one type. */
function kindsOf(schema: Schema): Schema[] {
  const several = (schema['anyOf'] ?? schema['oneOf']) as readonly Schema[] | undefined;
  if (several !== undefined) return several.flatMap(kindsOf);
  const { type } = schema;
  return Array.isArray(type) ? type.map((each: unknown) => ({ ...schema, type: each })) : [schema];
}

function isAnything(schema: Schema): boolean {
  return !['type', 'const', 'enum', 'properties', '$ref'].some((keyword) => keyword in schema);
}

function typeOf({ type }: Schema): string {
  return String(type);
}

function isOfType(previous: Schema, present: Schema): boolean {
  return typeOf(previous) === typeOf(present) || (typeOf(previous) === 'number' && typeOf(present) === 'integer');
}

function wordsBreak(previous: Schema, present: Schema, at: string): string[] {
  const [before, now] = [wordsOf(previous), wordsOf(present)];
  if (before === undefined || previous['x-may-grow'] === true) return [];
  if (now === undefined) return [`${at}: may be any ${typeOf(present)}`];
  const more = now.filter((word) => !before.includes(word));
  return more.length === 0 ? [] : [`${at}: may be ${more.map(String).join(', ')}`];
}

function wordsOf(schema: Schema): readonly unknown[] | undefined {
  return 'const' in schema ? [schema['const']] : (schema['enum'] as readonly unknown[] | undefined);
}

function rangeBreaks(previous: Schema, present: Schema, at: string): string[] {
  const least = (schema: Schema) => (schema['minimum'] as number | undefined) ?? -Infinity;
  const most = (schema: Schema) => (schema['maximum'] as number | undefined) ?? Infinity;
  return [
    ...(least(present) < least(previous) ? [`${at}: may be less than ${least(previous)}`] : []),
    ...(most(present) > most(previous) ? [`${at}: may be more than ${most(previous)}`] : []),
  ];
}
