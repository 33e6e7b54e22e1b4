// Puts each program and the packages that it uses into a few files: to load 2,500 modules one by one takes most of the time of a
// start. The modules themselves stay as they are, for those who import them.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { rolldown } from 'rolldown';

/** Packages with compiled or started files of their own, and one that others ask Node for at run time: there must be only one. */
const NOT_BUNDLED = ['@node-rs/argon2', 'better-sqlite3', 'pino', 'pino-pretty', 'reflect-metadata'];

/** Optional peers of the packages that this service does not use. */
const MAY_BE_MISSING = ['@fastify/static', /^@nestjs\/(?:microservices|websockets)/];

/** Optional peers of this service, with many files. They are loaded when an upstream has such credentials. */
const CLOUD_CREDENTIALS = ['@aws-sdk/credential-provider-node', '@smithy/signature-v4', 'google-auth-library'];

/**
 * @param {string} dist the folder of the compiled modules
 * @param {readonly string[]} programs the names of their entries, which import the bundle from now on
 * @param {readonly string[]} otherModules modules in other bundled files, for the list of licenses
 */
export async function bundle(dist, programs, otherModules) {
  const folder = join(dist, 'bundle');
  const build = await rolldown({
    input: Object.fromEntries(programs.map((name) => [name, join(dist, `${name}.js`)])),
    platform: 'node',
    external: [...NOT_BUNDLED, ...MAY_BE_MISSING, ...CLOUD_CREDENTIALS],
    treeshake: false,
    plugins: [filesOf(dist), oneTypeorm(), withoutUnused()],
  });
  rmSync(folder, { recursive: true, force: true });
  const { output } = await build.write({
    dir: folder,
    format: 'esm',
    // Nest tells apart and logs classes by their names.
    keepNames: true,
    // The code stays in memory. A character above Latin-1 would double the memory of its whole file.
    comments: false,
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
  });
  writeFileSync(
    join(folder, 'LICENSES.txt'),
    licenses([...output.flatMap(({ moduleIds = [] }) => moduleIds), ...otherModules]),
  );
  for (const name of programs) {
    // A static import would load the bundle before the first line runs.
    writeFileSync(
      join(dist, `${name}.js`),
      `#!/usr/bin/env node\nimport './platform/start/small-start.js';\nawait import('./bundle/${name}.js');\n`,
    );
    rmSync(join(dist, `${name}.js.map`), { force: true });
  }
}

/** Modules in the bundle find the files of their own folder, too. */
function filesOf(dist) {
  return {
    name: 'files-of-modules',
    transform(code, id) {
      if (!id.startsWith(dist) || !code.includes('import.meta.url')) return undefined;
      const path = join('..', relative(dist, id));
      return code.replaceAll('import.meta.url', `new URL(${JSON.stringify(path)}, import.meta.url).href`);
    },
  };
}

/** `@nestjs/typeorm` asks Node for TypeORM in one of its modules, to work with other versions, too. It gets that of the bundle. */
function oneTypeorm() {
  return {
    name: 'one-typeorm',
    transform(code, id) {
      if (!id.endsWith('@nestjs/typeorm/dist/common/typeorm-compat.js')) return undefined;
      return `import * as bundled from 'typeorm';\n${code.replace(/^const require = .*;$/m, 'const require = () => bundled;')}`;
    },
  };
}

/**
 * What packages load at their start and the programs never use: the drivers of other databases, and all phone numbers of the world,
 * for a decorator that no class has.
 */
function withoutUnused() {
  const unused = [
    [/typeorm\/driver\/DriverFactory\.js$/, /require\("\.\/(?!better-sqlite3|postgres)[\w-]+\/\w+Driver"\)/g],
    [/class-validator\/cjs\/decorator\/string\/IsPhoneNumber\.js$/, /require\("libphonenumber-js\/max"\)/g],
  ];
  return {
    name: 'without-unused',
    transform(code, id) {
      const imports = unused.find(([file]) => file.test(id))?.[1];
      if (imports === undefined) return undefined;
      const replaced = code.replaceAll(imports, '{}');
      if (replaced === code) throw new Error(`${id} does not load what the bundle leaves out.`);
      return replaced;
    },
  };
}

/** The licenses of the packages that are in the bundle. */
function licenses(modules) {
  const folders = modules.map((id) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1]).filter(Boolean);
  return [...new Set(folders)]
    .sort()
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
      return `${name} ${version}: ${license}\n\n${file === undefined ? '' : readFileSync(join(folder, file), 'utf8')}`;
    })
    .join(`\n${'-'.repeat(80)}\n`);
}
