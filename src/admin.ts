#!/usr/bin/env node
import 'reflect-metadata';
import { runAdmin } from './plugins/admin/commands/run-command.js';

await runAdmin();
