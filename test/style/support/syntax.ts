import ts from "typescript";
import { readText } from "./repository.ts";

/** A place in a file, as an editor opens it. */
export interface Finding {
  readonly place: string;
  readonly what: string;
}

/** The syntax tree of a file of the repository; parents are set. */
export function parseFile(path: string): ts.SourceFile {
  return ts.createSourceFile(path, readText(path), ts.ScriptTarget.ES2024, true);
}

/** Every node of a tree, outermost first. */
export function* nodesOf(root: ts.Node): Generator<ts.Node> {
  const waiting: ts.Node[] = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    yield node;
    const children: ts.Node[] = [];
    ts.forEachChild(node, (child) => {
      children.push(child);
    });
    waiting.push(...children.reverse());
  }
}

/** Notes what was found at a node. */
export function findingAt(node: ts.Node, what: string): Finding {
  const file = node.getSourceFile();
  const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
  return { place: `${file.fileName}:${line + 1}`, what };
}

/** Lines from the first to the last character of a node, its doc comment not counted. */
export function lineCount(node: ts.Node): number {
  const file = node.getSourceFile();
  const first = file.getLineAndCharacterOfPosition(node.getStart(file)).line;
  return file.getLineAndCharacterOfPosition(node.getEnd()).line - first + 1;
}

/** Whether an identifier stands for a value of the surroundings, and not for a property, a label or a name of its own. */
export function isFreeName(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) return false;
  if (ts.isQualifiedName(parent) && parent.right === node) return false;
  if (ts.isPropertyAssignment(parent) && parent.name === node) return false;
  if (ts.isPropertySignature(parent) || ts.isPropertyDeclaration(parent)) return parent.name !== node;
  if (ts.isMethodSignature(parent) || ts.isMethodDeclaration(parent)) return parent.name !== node;
  return true;
}

/** Whether a file does something when it runs; one with types alone does not. */
export function hasRuntimeCode(file: ts.SourceFile): boolean {
  return file.statements.some(
    (statement) =>
      !ts.isInterfaceDeclaration(statement) &&
      !ts.isTypeAliasDeclaration(statement) &&
      !ts.isImportDeclaration(statement) &&
      !ts.isExportDeclaration(statement),
  );
}

/** Relative imports of a file as paths of the repository, type imports included. */
export function localImportsOf(path: string): readonly string[] {
  const folder = path.slice(0, path.lastIndexOf("/"));
  return ts
    .preProcessFile(readText(path), true, true)
    .importedFiles.map((imported) => imported.fileName)
    .filter((name) => name.startsWith("."))
    .map((name) => new URL(name, `file:///${folder}/`).pathname.slice(1));
}
