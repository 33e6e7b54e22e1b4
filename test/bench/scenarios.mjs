// The scenarios of the bench. Each scenario is a load that runs against both servers. To add a scenario, add a file and an
// entry in this list.
import { full } from './scenarios/full.mjs';
import { idle } from './scenarios/idle.mjs';
import { models } from './scenarios/models.mjs';
import { paced } from './scenarios/paced.mjs';
import { short } from './scenarios/short.mjs';
import { stalled } from './scenarios/stalled.mjs';

/** @type {readonly import('./scenarios/scenario.mjs').Scenario[]} */
export const SCENARIOS = [full, paced, short, idle, stalled, models];
