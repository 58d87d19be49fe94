// embed.cpp -- from C++: a unique_ptr frees the simulation, errors are exceptions, kernels lambdas.
#include <cstdio>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <cube8.h>
#include <kernbench.h>
#include <tl.h>

namespace
{

struct Free {
    void operator()(kb_sim *sim) const
    {
        kb_sim_free(sim);
    }
};

using Sim = std::unique_ptr<kb_sim, Free>;

// Not for kernels: an exception must not leave a kernel, because its callers are C.
void need(kb_status status, const kb_error &why)
{
    if (status != KB_OK)
        throw std::runtime_error(why.text);
}

Sim new_sim()
{
    kb_options options{};
    kb_sim *sim = nullptr;

    options.phase2 = true;
    need(kb_sim_new(&cube8_topology, &options, &sim), {"no simulation"});
    return Sim(sim);
}

kb_tensor *new_vector(const Sim &sim, const char *name, int64_t n)
{
    kb_error why{"out of memory"};
    kb_tensor *tensor = nullptr;

    need(kb_tensor_new(sim.get(), name, KB_F32, KB_SHAPE(n), {KB_ROW_WISE, KB_ROW_WISE}, &tensor,
                       &why),
         why);
    return tensor;
}

void run()
{
    kb_error why{"out of memory"};
    std::vector<float> x(4096), y(x.size());
    Sim sim = new_sim();
    kb_tensor *tensors[] = {new_vector(sim, "x", 4096), new_vector(sim, "y", 4096)};
    kb_launch_request launch{};
    kb_launch_result r{};

    launch.name = "square";
    launch.kernel = [](tl_ctx *tl, const kb_args *args) { // without captures it is a C function
        kb_shard from = kb_tensor_shard(args->tensors[0], tl_pe(tl));
        kb_shard to = kb_tensor_shard(args->tensors[1], tl_pe(tl));
        tl_tensor *values = tl_load(tl, from.address, KB_F32, KB_SHAPE(from.shape.dim[0]));

        tl_store(tl, to.address, tl_mul(tl, values, values));
    };
    launch.args.tensors = tensors;
    launch.args.n_tensors = 2;

    std::iota(x.begin(), x.end(), 0.0f);
    need(kb_tensor_write(tensors[0], x.data(), &why), why);
    need(kb_launch(sim.get(), &launch, &why), why);
    need(kb_sim_run(sim.get(), 0, &why), why);
    need(kb_compute(sim.get(), nullptr, &why), why);
    need(kb_tensor_read(tensors[1], y.data(), &why), why);
    need(kb_launch_get(sim.get(), 0, &r), why);
    std::printf("%zu squares on %u PEs in %.6f ns; the last is %.0f\n", y.size(), r.pes,
                static_cast<double>(r.last_end_fs - r.start_fs) / KB_FS_PER_NS, y.back());

    kb_endpoint end{};
    need(kb_endpoint_parse(&cube8_topology, "c0.slice9", 9, &end, &why), why);
}

} // namespace

int main()
{
    try {
        run();
    } catch (const std::exception &e) {
        std::printf("caught: %s\n", e.what());
    }
}
