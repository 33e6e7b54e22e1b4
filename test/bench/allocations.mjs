// Prints the bytes that the service allocates on the JavaScript heap for one short stream, by function, as a Markdown table.
//
//   npm run build && node test/bench/allocations.mjs        4,000 requests, about 10 s
//   node test/bench/allocations.mjs --top 100               more functions
//   node test/bench/allocations.mjs --server relay          the lean relay, or an empty handler of Nest: nest, leanNest
//   node test/bench/allocations.mjs --build ../other/dist   the build of another checkout
//
// V8 samples the allocations, so two runs differ by about 1 %. V8 compiles small functions into their callers, and an allocation
// of such a function counts for the caller. The memory of buffers is outside the JavaScript heap, and does not count.
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { REPOSITORY } from './processes.mjs';
import { completeStreams } from './scenarios/scenario.mjs';
import { short } from './scenarios/short.mjs';
import { NO_LIMIT_REACHED, prepare } from './servers.mjs';

const { values: options } = parseArgs({
  options: {
    top: { type: 'string', default: '25' },
    build: { type: 'string', default: 'dist' },
    server: { type: 'string', default: 'gateway' },
    node: { type: 'string', default: process.execPath },
  },
});

/** @returns {Promise<import('./allocation-sampling.mjs').AllocatingFunction[]>} with the bytes of one request */
async function allocationsOfRequest() {
  const stand = await prepare({
    scripts: short.scripts,
    gatewayCommand: `node ${options.build}/main.js`,
    key: undefined,
    profileFolder: undefined,
    node: options.node,
    tier: NO_LIMIT_REACHED,
    logLevel: 'info',
  });
  const start = {
    relay: stand.startRelay,
    nest: stand.startNest,
    leanNest: stand.startLeanNest,
    gateway: () => stand.startGateway({ command: `node test/bench/modules.mjs ${options.build}` }),
  };
  const server = await start[options.server]();
  await short.warmUp(stand, server, short.size);
  const functions = await server.process.allocations(() => completeStreams(server, 'short-20', short.size));
  await server.process.stop();
  return functions.map((one) => ({ ...one, bytes: one.bytes / short.size.count }));
}

/** The place of a function: in the source of the service, in a package, or in Node. */
function placeOf({ url, line }) {
  if (url === '') return 'V8';
  if (url.startsWith('node:')) return url;
  const path = url.startsWith('file:') ? fileURLToPath(url) : url;
  const inPackage = path.lastIndexOf('node_modules/');
  if (inPackage !== -1) return `${path.slice(inPackage + 'node_modules/'.length)}:${line}`;
  return sourceOf(path, line) ?? `${relative(REPOSITORY, path)}:${line}`;
}

function sourceOf(path, line) {
  const build = resolve(options.build);
  if (!path.startsWith(build)) return undefined;
  const map = new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8')));
  const text = readFileSync(path, 'utf8').split('\n')[line - 1];
  const entry = map.findEntry(line - 1, text.search(/\S/));
  return `src${path.slice(build.length).replace(/\.js$/, '.ts')}:${(entry.originalLine ?? line - 1) + 1}`;
}

/** The part of the program that has a function: the service, Node, V8, or a package. */
function partOf(place) {
  if (place.startsWith('src/')) return 'the service';
  if (place.startsWith('node:')) return 'Node';
  if (place.startsWith('@nestjs/')) return 'Nest';
  return place.split('/')[0];
}

const kilobytes = (bytes) => (bytes / 1024).toFixed(1);

function sumsByPart(functions) {
  const sums = new Map();
  for (const one of functions) {
    const part = partOf(placeOf(one));
    sums.set(part, (sums.get(part) ?? 0) + one.bytes);
  }
  return [...sums].sort(([, one], [, other]) => other - one);
}

const functions = await allocationsOfRequest();
const total = functions.reduce((sum, { bytes }) => sum + bytes, 0);
const top = functions.slice(0, Number(options.top));
const parts = sumsByPart(functions).map(([part, bytes]) => `${part} ${kilobytes(bytes)}`);
console.log(`A short stream allocates ${kilobytes(total)} KB: ${parts.join(', ')}.\n`);
console.log('| function | place | KB per request |\n|---|---|---|');
for (const one of top) console.log(`| \`${one.name || '(anonymous)'}\` | ${placeOf(one)} | ${kilobytes(one.bytes)} |`);
process.exit(0);
