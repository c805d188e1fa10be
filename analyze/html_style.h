/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How pages look: on screens light and dark, narrow and wide, and on paper.
 */
#ifndef IOTAPE_HTML_STYLE_H
#define IOTAPE_HTML_STYLE_H

/* Variables beside plot_tones': text on verdicts has a contrast of 4.5 and more against the page. */
#define HTML_LIGHT                                                                                           \
    "--card:#f6f7f9;--rule:#d8dce1;--worse:#a84800;--better:#005f96;--same:#00704f;--unknown:#606770;"       \
    "--worse-back:#fbeadf;--better-back:#e0eef7;--same-back:#dff3ec;--unknown-back:#eceef1"
#define HTML_DARK                                                                                            \
    "--card:#1d232b;--rule:#38414c;--worse:#ff9a57;--better:#6dbcf0;--same:#4fcfa6;--unknown:#a5aeb9;"       \
    "--worse-back:#3a2415;--better-back:#132d40;--same-back:#12332a;--unknown-back:#2a313a"

extern const char html_style[];

#endif
