import * as ts from 'typescript';

/**
 * Module-level `const`, `let` and `class` that are used before their line is reached, because something above them is called
 * that uses them: `await main()` above `const LIMIT`. In the source that is an error when it happens; in a bundle, where they
 * become `var`, it is `undefined` without a word.
 *
 * Names are compared, not scopes: a parameter that is called as one of them counts as it.
 */
export function lateDeclarations(source: string): string[] {
  const { statements } = ts.createSourceFile('module.tsx', source, ts.ScriptTarget.Latest, true);
  const bodies = new Map(statements.flatMap(bodiesOf));
  const found = statements.flatMap((statement, place) => {
    const later = statements.slice(place + 1).flatMap(namesDeclared);
    const used = usedBy(statement, bodies);
    return later.filter((name) => used.has(name));
  });
  return [...new Set(found)];
}

/** Functions and classes of the module by name, with what is done when they are called. */
function bodiesOf(statement: ts.Statement): [string, ts.Node][] {
  if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) {
    return statement.name === undefined ? [] : [[statement.name.text, statement]];
  }
  if (!ts.isVariableStatement(statement)) return [];
  return statement.declarationList.declarations.flatMap(({ name, initializer }): [string, ts.Node][] =>
    ts.isIdentifier(name) && initializer !== undefined && ts.isFunctionLike(initializer)
      ? [[name.text, initializer]]
      : [],
  );
}

function namesDeclared(statement: ts.Statement): string[] {
  if (ts.isClassDeclaration(statement)) return statement.name === undefined ? [] : [statement.name.text];
  if (!ts.isVariableStatement(statement)) return [];
  return statement.declarationList.declarations.flatMap(({ name }) => boundNames(name));
}

function boundNames(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) => (ts.isOmittedExpression(element) ? [] : boundNames(element.name)));
}

/** Names that a statement uses when its line is reached, itself or through the functions of the module that it calls. */
function usedBy(statement: ts.Statement, bodies: ReadonlyMap<string, ts.Node>): Set<string> {
  const names = new Set<string>();
  const called = new Set<string>();
  const call = (name: string): void => {
    const body = bodies.get(name);
    if (body === undefined || called.has(name)) return;
    called.add(name);
    // Whatever is made in a function that is called may be called.
    walk(body, () => true, use);
  };
  const use = (node: ts.Identifier): void => {
    names.add(node.text);
    if (isCalled(node)) call(node.text);
  };
  if (!isSilent(statement)) walk(statement, isCalled, use);
  return names;
}

/** Whether nothing is done when its line is reached. */
function isSilent(statement: ts.Statement): boolean {
  const kinds = [ts.isFunctionDeclaration, ts.isClassDeclaration, ts.isImportDeclaration, ts.isExportDeclaration];
  return [...kinds, ts.isInterfaceDeclaration, ts.isTypeAliasDeclaration].some((is) => is(statement));
}

/** What is handed to a call may be called by it; what is only kept, in a table for example, is called later. */
function isCalled({ parent }: ts.Node): boolean {
  return ts.isCallExpression(parent) || ts.isNewExpression(parent) || ts.isParenthesizedExpression(parent);
}

/** Tells of every name that is used below a node. `enters`: whether a function below it is looked into. */
function walk(node: ts.Node, enters: (inner: ts.Node) => boolean, use: (name: ts.Identifier) => void): void {
  ts.forEachChild(node, (child) => {
    if (ts.isTypeNode(child) || (ts.isFunctionLike(child) && !enters(child))) return;
    if (ts.isIdentifier(child) && isUse(child)) use(child);
    walk(child, enters, use);
  });
}

/** Not the name of a property, nor of what is declared there. */
function isUse({ parent, pos }: ts.Identifier): boolean {
  const named = parent as { name?: ts.Node; propertyName?: ts.Node };
  const isName = named.name?.pos === pos || named.propertyName?.pos === pos;
  return !isName || ts.isShorthandPropertyAssignment(parent);
}
