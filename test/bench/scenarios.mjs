// The scenarios of the bench. Each scenario compares two servers under the same load. To add a scenario, add a file and an
// entry in this list.
import { begin } from './scenarios/begin.mjs';
import { budgeted } from './scenarios/budgeted.mjs';
import { durable, durableOnRedis } from './scenarios/durable.mjs';
import { fullCompletions, shortCompletions } from './scenarios/completions.mjs';
import { full, packed } from './scenarios/full.mjs';
import { health, models } from './scenarios/get.mjs';
import { idle } from './scenarios/idle.mjs';
import { observed } from './scenarios/observed.mjs';
import { paced } from './scenarios/paced.mjs';
import { replicas } from './scenarios/replicas.mjs';
import { rest } from './scenarios/rest.mjs';
import { short } from './scenarios/short.mjs';
import { stalled, stalledAmongOthers } from './scenarios/stalled.mjs';
import { start } from './scenarios/start.mjs';
import { tools } from './scenarios/tools.mjs';

/** @type {readonly import('./scenarios/scenario.mjs').Scenario[]} */
export const SCENARIOS = [
  full,
  packed,
  paced,
  begin,
  short,
  fullCompletions,
  shortCompletions,
  tools,
  health,
  models,
  observed,
  budgeted,
  durable,
  durableOnRedis,
  replicas,
  idle,
  stalled,
  stalledAmongOthers,
  rest,
  start,
];
