// Writes docs/configuration.md anew: `npm run docs:config`.
import { writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { configurationReference } from './configuration-reference.mjs';

const file = new URL('configuration.md', import.meta.url);
writeFileSync(file, await format(configurationReference(), { ...(await resolveConfig(file)), parser: 'markdown' }));
