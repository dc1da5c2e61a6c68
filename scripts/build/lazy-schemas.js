import ts from 'typescript';

/** What these give is no schema. */
const results = new Set(['parse', 'safeParse', 'decode', 'encode']);

/**
 * The text of a source with its zod schemas built when they are first used: a short command reads few files, and to build the schemas
 * of all took it longer than everything else that it did.
 */
export function withLazySchemas(text) {
  if (!text.includes("import * as z from 'zod'")) return text;
  const schemas = new Set(['z']);
  const source = ts.createSourceFile('source.tsx', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const built = source.statements.filter(ts.isVariableStatement).flatMap(({ declarationList }) =>
    declarationList.declarations.filter(({ name, initializer }) => {
      const isSchema = initializer !== undefined && ts.isCallExpression(initializer) && isBuilt(initializer, schemas);
      if (isSchema) schemas.add(name.text);
      return isSchema;
    }),
  );
  const lazy = built.reduceRight((changed, { initializer }) => {
    const [from, to] = [initializer.getStart(), initializer.getEnd()];
    return `${changed.slice(0, from)}__lazySchema(() => ${changed.slice(from, to)})${changed.slice(to)}`;
  }, text);
  return built.length === 0 ? text : `${lazy}\n${lazySchema}`;
}

/** Whether an expression makes a schema: a chain of calls that begins with zod, or with such a schema. */
function isBuilt(call, schemas) {
  if (ts.isPropertyAccessExpression(call.expression) && results.has(call.expression.name.text)) return false;
  let root = call;
  while (ts.isCallExpression(root) || ts.isPropertyAccessExpression(root)) root = root.expression;
  return ts.isIdentifier(root) && schemas.has(root.text);
}

/** Stands for a schema, as zod asks all of a schema of its properties. */
const lazySchema = `function __lazySchema(build) {
  let schema;
  const of = () => (schema ??= build());
  return new Proxy({}, {
    get: (_, name) => Reflect.get(of(), name),
    set: (_, name, value) => Reflect.set(of(), name, value),
    has: (_, name) => Reflect.has(of(), name),
    getPrototypeOf: () => Reflect.getPrototypeOf(of()),
  });
}`;
