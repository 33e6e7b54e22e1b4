// The service from its modules instead of its bundle, so that a profile has the file of each function. The argument is the
// folder of the build.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const { AppModule, bootstrap } = await import(pathToFileURL(resolve(process.argv[2], 'index.js')).href);

await bootstrap(() => AppModule.register());
