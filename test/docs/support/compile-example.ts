import { basename, join } from "node:path";
import ts from "typescript";

/** Compiles these files of a copy under the project's own settings. @param before the same copy, compiled earlier */
export function compile(folder: string, paths: readonly string[], before?: ts.Program): ts.Program {
  const { config } = ts.readConfigFile(join(folder, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, folder);
  const roots = [...new Set(paths)].map((path) => join(folder, path));
  return ts.createProgram(roots, options, undefined, before);
}

/** What is wrong with the types of these files; what they import is checked by `npm run check`, and parsed only. */
export function problemsOf(program: ts.Program): readonly string[] {
  return program.getRootFileNames().flatMap((name) => {
    const file = program.getSourceFile(name);
    if (file === undefined) throw new Error(`${name} is not part of the program`);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
      ({ messageText }) => `${basename(name)}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`,
    );
  });
}
