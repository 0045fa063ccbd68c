"""Metrics, updated over batches."""
import torch
import torchmetrics as tm

torch.manual_seed(0)
metrics = tm.MetricCollection({
    "accuracy": tm.classification.MulticlassAccuracy(5), "f1": tm.classification.MulticlassF1Score(5),
    "auroc": tm.classification.MulticlassAUROC(5), "confusion": tm.classification.MulticlassConfusionMatrix(5),
    "precision": tm.classification.MulticlassAveragePrecision(5)})
error, r2, pearson = tm.MeanSquaredError(), tm.R2Score(), tm.PearsonCorrCoef()
for _ in range(4):
    metrics.update(torch.randn(32, 5).softmax(1), torch.randint(0, 5, (32,)))
    a, b = torch.randn(32), torch.randn(32)
    for m in (error, r2, pearson):
        m.update(a, b)
for name, value in metrics.compute().items():
    print(name, *value.flatten().tolist())
print("error", *(m.compute().item() for m in (error, r2, pearson)))
x, y = torch.rand(2, 3, 32, 32), torch.rand(2, 3, 32, 32)
print("ssim", tm.functional.structural_similarity_index_measure(x, y, data_range=1.0).item(),
    tm.functional.peak_signal_noise_ratio(x, y, data_range=1.0).item())
