// What a tile comes to next: while it computes some planes, it fetches rows of the next ones into the second cache, a few
// lines with each row. The processor's own prefetchers follow rows, not tiles.
#ifndef STENCIL_AHEAD_H
#define STENCIL_AHEAD_H

#include "stencil_sides.h"

// Asks for the cache line of a place, without effect on results.
#ifndef STENCIL_FETCH
#define STENCIL_FETCH(place) __builtin_prefetch(place, 0, 2)
#endif

namespace stencil {

// Numbers [low, high): rows, planes or levels.
struct Span {
    int64_t low, high;
};

// Rows of arrays with three axes, fetched line by line.
class Ahead {
   public:
    Ahead(int64_t plane_step, int64_t row_step, int64_t cells) : plane_step(plane_step), row_step(row_step), cells(cells) {}

    // An array by its first element, the number of that of cell 0, and the bytes of each. Only ARRAYS of them are fetched.
    void add_array(const char* first, int64_t start, int64_t itemsize) {
        if (arrays == ARRAYS) return;
        const int64_t lines_of_row = (cells * itemsize + LINE - 1) / LINE;
        array[arrays++] = {first + start * itemsize, itemsize, lines_of_row};
        lines_of_rows += lines_of_row;
    }

    void clear() { pieces = piece = lines_to_go = 0; }

    // Some rows of some planes, of each array. Only PIECES of them are fetched.
    void add(const Span& planes, const Span& rows) {
        if (planes.low >= planes.high || rows.low >= rows.high || pieces == PIECES) return;
        parts[pieces++] = {planes, rows};
        lines_to_go += (planes.high - planes.low) * (rows.high - rows.low) * lines_of_rows;
    }

    // Shares all lines out over the next `rows` rows that are computed.
    void begin(int64_t rows) {
        each = rows > 0 ? (lines_to_go + rows - 1) / rows : 0;
        if (pieces > 0) begin_piece();
    }

    // Fetches the share of one row.
    void fetch() {
        for (int64_t wanted = piece < pieces ? each : 0, some; wanted > 0; wanted -= some) {
            some = wanted < left ? wanted : left;
            for (int64_t line = 0; line < some; ++line) STENCIL_FETCH(place + LINE * line);
            place += LINE * some;
            left -= some;
            if (left == 0 && !next_row()) return;
        }
    }

   private:
    static constexpr int ARRAYS = 8, PIECES = 80;
    static constexpr int64_t LINE = 64;

    struct Fetched {
        const char* first;
        int64_t itemsize, lines;
    };
    struct Piece {
        Span planes, rows;
    };

    void begin_piece() {
        plane = parts[piece].planes.low;
        row = parts[piece].rows.low;
        at = 0;
        begin_row();
    }
    void begin_row() {
        place = array[at].first + (plane * plane_step + row * row_step) * array[at].itemsize;
        left = array[at].lines;
    }
    bool next_row() {
        if (++at == arrays) {
            at = 0;
            if (++row == parts[piece].rows.high) {
                row = parts[piece].rows.low;
                if (++plane == parts[piece].planes.high) {
                    if (++piece == pieces) return false;
                    begin_piece();
                    return true;
                }
            }
        }
        begin_row();
        return true;
    }

    Fetched array[ARRAYS];
    Piece parts[PIECES];
    int64_t plane_step, row_step, cells, lines_of_rows = 0, lines_to_go = 0, each = 0;
    int64_t arrays = 0, at = 0, pieces = 0, piece = 0, plane = 0, row = 0, left = 0;
    const char* place = nullptr;
};

}  // namespace stencil

#endif
