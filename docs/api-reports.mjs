// Writes docs/api: a report of each entry of the package, with the declarations of its exports, their docstrings, and the types that
// they use. `npm pack` runs it, so the reports are in the package and not in the repository.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const DIST = fileURLToPath(new URL('../dist', import.meta.url));

const ENTRIES = ['index', 'testing', 'client'];

const OPTIONS = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023, skipLibCheck: true };
const printer = ts.createPrinter();

const folder = fileURLToPath(new URL('api', import.meta.url));
const program = ts.createProgram(
  ENTRIES.map((entry) => join(DIST, `${entry}.d.ts`)),
  OPTIONS,
);
mkdirSync(folder, { recursive: true });
for (const entry of ENTRIES) writeFileSync(join(folder, `${entry}.api.md`), `${reportOf(entry, program)}\n`);

function reportOf(entry, program) {
  const checker = program.getTypeChecker();
  const resolved = (symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol);
  const module = checker.getSymbolAtLocation(program.getSourceFile(join(DIST, `${entry}.d.ts`)));
  const exported = new Map(checker.getExportsOfModule(module).map((symbol) => [resolved(symbol), symbol.name]));
  const used = new Map();

  /** The declarations of a symbol in the package, as text. Notes the types that they use. */
  const declared = (symbol) =>
    (symbol.declarations ?? []).filter(isOwn).map((declaration) => {
      const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
      const shown = publicPart(node, (member) => typesIn(member).some((type) => isClass(type) && !exported.has(type)));
      for (const type of typesIn(shown)) if (!exported.has(type)) used.set(type, type.name);
      return withoutEmptyLines(printer.printNode(ts.EmitHint.Unspecified, shown, node.getSourceFile()));
    });
  /** The types of the package that a declaration names. */
  const typesIn = (node) => {
    const found = [];
    const visit = (child) => {
      if (ts.isIdentifier(child) && child.parent !== undefined) {
        const symbol = checker.getSymbolAtLocation(child);
        const type = symbol && resolved(symbol);
        if (type?.declarations?.some(isOwnType)) found.push(type);
      }
      ts.forEachChild(child, visit);
    };
    visit(node);
    return found;
  };

  const section = (symbols) =>
    [...symbols]
      .sort(([, a], [, b]) => (a < b ? -1 : 1))
      .flatMap(([symbol, name]) => [...renamed(symbol, name), ...declared(symbol)]);
  const own = section(exported);
  const others = [];
  for (const seen = new Set(); ;) {
    const next = [...used].filter(([symbol]) => !seen.has(symbol));
    if (next.length === 0) break;
    for (const [symbol, name] of next) {
      seen.add(symbol);
      others.push([name, declared(symbol)]);
    }
  }
  others.sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    `# API of \`chat-streaming-service${entry === 'index' ? '' : `/${entry}`}\``,
    'Written by `npm pack` from the built declarations.',
    '## Exports',
    code(own),
    ...(others.length === 0 ? [] : ['## Types that are not exported', code(others.flatMap(([, texts]) => texts))]),
  ].join('\n\n');
}

/** Leaves out the empty lines of docstrings. */
function withoutEmptyLines(text) {
  return text.replace(/^ *\*\n/gm, '');
}

/** A class without its private members, and without a constructor that only the package itself can call. */
function publicPart(node, usesInternalTypes) {
  if (!ts.isClassDeclaration(node)) return node;
  const members = node.members.filter((member) => {
    if (ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Private) return false;
    if (member.name !== undefined && ts.isPrivateIdentifier(member.name)) return false;
    return !(ts.isConstructorDeclaration(member) && usesInternalTypes(member));
  });
  const { modifiers, name, typeParameters, heritageClauses } = node;
  return ts.factory.updateClassDeclaration(node, modifiers, name, typeParameters, heritageClauses, members);
}

function renamed(symbol, name) {
  return symbol.name === name ? [] : [`// ${name} is ${symbol.name}:`];
}

function isOwn(declaration) {
  return !relative(DIST, declaration.getSourceFile().fileName).startsWith('..');
}

function isOwnType(declaration) {
  return (
    isOwn(declaration) &&
    (ts.isInterfaceDeclaration(declaration) ||
      ts.isTypeAliasDeclaration(declaration) ||
      ts.isClassDeclaration(declaration) ||
      (ts.isVariableDeclaration(declaration) && ts.isSourceFile(declaration.parent.parent.parent)))
  );
}

function isClass({ declarations }) {
  return declarations.some((declaration) => ts.isClassDeclaration(declaration));
}

function code(texts) {
  return `\`\`\`ts\n${texts.join('\n\n')}\n\`\`\``;
}
